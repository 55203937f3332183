from .arrays import (
    bounded_parts as bounded_parts,
    distinct_rows as distinct_rows,
    offsets as offsets,
    ranges as ranges,
    rank_within as rank_within,
    scramble as scramble,
)
from .cache import (
    CODE_VERSIONS as CODE_VERSIONS,
    KEY_BASE as KEY_BASE,
    STAGES as STAGES,
    cache_file as cache_file,
    cache_folder as cache_folder,
    changed_stages as changed_stages,
    content_key as content_key,
)
from .errors import InputError as InputError, InterruptionError as InterruptionError
from .figures import check_format as check_format, drawing as drawing
from .files import (
    MAX_NESTING as MAX_NESTING,
    atomic_write as atomic_write,
    content_of as content_of,
    file_lock as file_lock,
    open_regular as open_regular,
    parse_json as parse_json,
    read_bytes as read_bytes,
    read_json as read_json,
    read_text as read_text,
    shown as shown,
    write_json as write_json,
)
from .memory import check_memory as check_memory
from .processes import (
    CONTEXT as CONTEXT,
    end_with_parent as end_with_parent,
    process_pool as process_pool,
    stop as stop,
)
from .records import Record as Record, read_dataclass as read_dataclass
from .settings import (
    MOST_COUNT as MOST_COUNT,
    MOST_REAL as MOST_REAL,
    MOST_SEED as MOST_SEED,
    Names as Names,
    Real as Real,
    Settings as Settings,
    SomeNames as SomeNames,
    brief as brief,
    did_you_mean as did_you_mean,
    range_text as range_text,
    setting as setting,
)
from .watcher import (
    CANCEL as CANCEL,
    COMMAND as COMMAND,
    EXIT as EXIT,
    KILLED_MESSAGE as KILLED_MESSAGE,
    LOG as LOG,
    MAX_COMMANDS as MAX_COMMANDS,
    OUTPUT as OUTPUT,
    REQUEST as REQUEST,
    WATCHER as WATCHER,
    Process as Process,
    is_open as is_open,
)
from .worker import (
    GIGABYTE as GIGABYTE,
    Call as Call,
    WorkerEndedError as WorkerEndedError,
    carry_out as carry_out,
    in_worker as in_worker,
)
from .yaml_text import read_yaml as read_yaml
