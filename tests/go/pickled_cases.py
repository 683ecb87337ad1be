"""What wangkuiyi/gotorch's GobEncode gives of tensors: archives of LibTorch's pickle_save, as base64, with what C++ prints."""
import base64

import torch

import stream_cases


def cases():
    return [{"dtype": stream_cases.DTYPES.index(x.dtype), "requires_grad": x.requires_grad,
             "data": base64.b64encode(torch._C._pickle_save(x)).decode(), "text": stream_cases.text(x)}
            for x in (torch.eye(3), torch.tensor([[0.5, -1.25]]).requires_grad_(), torch.arange(6).reshape(2, 3).t(),
                      torch.tensor([True, False]), torch.tensor(2.5, dtype=torch.float64), torch.zeros(0, 2),
                      torch.tensor([0.5, 1.5], dtype=torch.float16))]
