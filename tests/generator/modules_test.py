"""What capi/generator/modules says of Python's modules and of those of the registry: modules_test"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "capi/generator"))

from languages.go import modules as go  # noqa: E402
from modules import model  # noqa: E402


# What differs from Python, as docs/modules.md says: (module, option).
LAYERS = ("TransformerEncoder", "TransformerDecoder")  # take what Python's layers take
DIFFER = {("Hardtanh", "min_value"), ("Hardtanh", "max_value"),  # deprecated
          ("RNN", "mode"), ("LSTM", "mode"), ("GRU", "mode"), ("RNN", "proj_size"), ("GRU", "proj_size"),  # of RNNBase
          ("RNN", "nonlinearity"), ("Transformer", "custom_encoder"), ("Transformer", "custom_decoder"),
          ("TripletMarginWithDistanceLoss", "distance_function"),
          ("Softmax", "dim"), ("Softmin", "dim"), ("LogSoftmax", "dim")}


def same_default(ours, theirs):
    if isinstance(ours, list) and not isinstance(theirs, list):
        return all(one == theirs for one in ours)
    return ours == theirs


class Modules(unittest.TestCase):
    def test_options_of_python(self):
        """Options have Python's names, and those that Python needs are needed; defaults are Python's."""
        python = model.python_options()
        for m in model.build():
            if m.type in LAYERS:
                continue
            with self.subTest(m.type):
                ours, theirs = {o.name: o for o in m.options}, python[m.type]
                self.assertEqual({n for n in set(ours) ^ set(theirs) if (m.type, n) not in DIFFER}, set())
                for name in set(ours) & set(theirs):
                    if (m.type, name) in DIFFER:
                        continue
                    self.assertEqual(ours[name].required, not theirs[name], name)
                    if theirs[name]:
                        self.assertTrue(same_default(ours[name].default, theirs[name][0]),
                                        f"{name} is {ours[name].default}, Python's {theirs[name][0]}")

    def test_all_of_python(self):
        """Each class of torch.nn is in the registry, or left out with a reason."""
        ours = {m.type for m in model.build()}
        left_out = set(model.left_out())
        self.assertEqual(ours & left_out, set())
        self.assertEqual(sorted(ours | left_out), sorted(model.python_options()))

    def test_go_names_as_errors_do(self):
        """Errors at run time name options by rule and exceptions (go/internal/names): the structs have the same names."""
        text = (ROOT / "go/internal/names/fields.go").read_text(encoding="utf-8")
        for m in model.build() + model.networks():
            for option in m.options:
                name = go.field(option.name)
                by_rule = "".join(w[:1].upper() + w[1:] for w in option.name.split("_"))
                self.assertTrue(name == by_rule or f'"{option.name}": ' in text, f"{m.type}: {option.name}")


if __name__ == "__main__":
    unittest.main()
