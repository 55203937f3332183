from .activation_archive import StateActivations as StateActivations, replay_states as replay_states
from .activations import Replay as Replay, replay as replay
from .bags import Bags as Bags
from .checkpoint import Checkpoint as Checkpoint
from .diameter import diameters as diameters, layers_to_cross as layers_to_cross
from .examples import Examples as Examples
from .execution import chunks as chunks, evaluate as evaluate, one_thread as one_thread, values as values
from .families import (
    FAMILIES as FAMILIES,
    NetworkFamily as NetworkFamily,
    build_network as build_network,
    check_network as check_network,
)
from .figures import (
    draw_learning as draw_learning,
    draw_predictions as draw_predictions,
    draw_probes as draw_probes,
)
from .matching import check_vocabulary as check_vocabulary
from .network import (
    POOLED as POOLED,
    Activations as Activations,
    Bound as Bound,
    Network as Network,
    Site as Site,
)
from .predictions import Predictions as Predictions, compute_predictions as compute_predictions
from .probing import (
    KNOWN as KNOWN,
    ProbeRow as ProbeRow,
    known_places as known_places,
    probe_checkpoint as probe_checkpoint,
    state_features as state_features,
)
from .random_networks import (
    RandomNetworks as RandomNetworks,
    compare_random_networks as compare_random_networks,
)
from .rgnn import RGNN as RGNN
from .settings import (
    AUTO as AUTO,
    DEFAULT_FAMILY as DEFAULT_FAMILY,
    FAMILY_SETTINGS as FAMILY_SETTINGS,
    Architecture as Architecture,
    Training as Training,
)
from .state_values import predict as predict, quotient_for as quotient_for
from .training import Epoch as Epoch, TrainingResult as TrainingResult, train as train
from .wiring import Wiring as Wiring, wire_quotient as wire_quotient, wire_structures as wire_structures
