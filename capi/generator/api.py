"""What languages are written from: the C ABI, the operators that have typed functions, and the modules of the registry."""
import importlib
import pathlib
import pkgutil

import languages
from abi.header import Header
from modules import model as modules
from operators import model

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE.parents[1] / "capi/include/tandem/tandem.h"


class Api:
    def __init__(self, header=HEADER):
        self._path = header
        self._header = self._operators = self._modules = None

    @property
    def header(self):
        self._header = self._header or Header(self._path)
        return self._header

    @property
    def bound(self):
        """LibTorch's operators with typed functions: model.Bound, sorted by schema."""
        return self._model()[0]

    @property
    def own(self):
        """The same of namespace tandem."""
        return model.own()

    @property
    def typed(self):
        return self.bound + self.own

    @property
    def left_out(self):
        """LibTorch's others: (operator, why)."""
        return self._model()[1]

    @property
    def modules(self):
        """modules.Module of torch.nn, sorted by name."""
        self._modules = self._modules or modules.build()
        return self._modules

    @property
    def networks(self):
        """modules.Net, sorted by name."""
        return modules.networks()

    def _model(self):
        self._operators = self._operators or model.build()
        return self._operators


def all_languages():
    """name → module, of every folder in languages/. A module may have:

    in_checkout(api)     {path from the checkout's root: text}
    at_build(api)        {file name: text}, of what its build makes
    operator_names(api)  {operator's key: what its function is called}: they are frozen in operators.txt beside the module
    NOTES                [(folder of the checkout, first line of generated files)]: those that nothing writes any more go
    TITLE                the language's name in documentation
    """
    return {m.name: language(m.name) for m in pkgutil.iter_modules(languages.__path__) if m.ispkg}


def language(name):
    return importlib.import_module(f"languages.{name}")
