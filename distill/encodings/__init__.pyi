from .encoding import ENCODINGS as ENCODINGS, Encoding as Encoding, goal_encoding as goal_encoding
