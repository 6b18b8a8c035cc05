"""Choose the device and the number type that a model runs on."""

import torch

from model.errors import DeviceError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def choose_device(name: str | None = None) -> torch.device:
    """The named device; by default CUDA if present, else the CPU.

    Raises:
        DeviceError: the device does not exist here.
    """
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError("Unknown device {name!r}; ask for cpu, cuda or cuda:N.", name=name) from error
    if device.type not in ("cpu", "cuda"):
        raise DeviceError("Device {name!r} is not supported; ask for cpu, cuda or cuda:N.", name=name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise DeviceError(
            "Device {name!r} was asked for, but {device_count} CUDA devices are present.",
            name=name,
            device_count=torch.cuda.device_count(),
        )
    return device


def gpu_memory(device: str) -> int | None:
    """Bytes of memory that a GPU has; None of the CPU, which has the machine's."""
    return torch.cuda.get_device_properties(device).total_memory if device.startswith("cuda") else None


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether the device has instructions for products of bfloat16; without them they are far slower than float32's."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return any(has_it for name, has_it in torch.cpu.get_capabilities().items() if "bf16" in name)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """The number type of weights and activations. Raises a DeviceError if the type is unknown, or bfloat16 on a CPU."""
    if name not in DTYPES:
        raise DeviceError("Unknown number type {name!r}; ask for {dtypes}.", name=name, dtypes=" or ".join(DTYPES))
    if name == "bfloat16" and device.type != "cuda":
        raise DeviceError("bfloat16 is a setting for CUDA devices; on the CPU the model runs in float32.")
    return DTYPES[name]
