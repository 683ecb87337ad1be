"""C that follows from the declarations: functions that forward to others."""

# Implemented by libtandem itself, because they must work before, or without, the core.
LOCAL = {
    "tdm_error_get_code", "tdm_error_operation", "tdm_error_message", "tdm_error_free",
    "tdm_error_create", "tdm_error_user_data",
    "tdm_load", "tdm_shutdown", "tdm_version", "tdm_libtorch_version",
}
# What a getter answers when no core is loaded, where zero would be a lie.
NOT_LOADED = {name: "(tdm_device){TDM_DEVICE_CPU, -1}" for name in ("tdm_tensor_get_device", "tdm_generator_get_device")}
NOT_LOADED["tdm_tensor_get_layout"] = "-1"


def forwarded(header):
    return [f for f in header.functions if f.name not in LOCAL and not f.initialises]


def absent(f):
    """What one that cannot fail does without what it forwards to."""
    return "return" if f.result == "void" else f"return {NOT_LOADED.get(f.name, '0')}"


def call(f, slot):
    returns = "" if f.result == "void" else "return "
    return f"{returns}(({f.result} (*)({f.text})){slot})({f.arguments});"
