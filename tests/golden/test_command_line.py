"""The commands with their arguments and options."""

from tests.golden.support import Golden, as_text, command_tree


def test_commands_and_options(golden: Golden) -> None:
    golden.check({"commands.json": as_text(command_tree())})
