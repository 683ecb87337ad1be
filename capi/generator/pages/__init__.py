"""Pages of docs/ that are made of what programs know."""
from api import all_languages
from modules import model
from pages import modules, networks, operators


def in_checkout(api):
    columns = [(language.TITLE, language.operator_names(api)) for language in all_languages().values()
               if hasattr(language, "operator_names")]
    # Go first: its names are those of the other columns' words.
    return {"docs/operators.md": operators.page(api, sorted(columns, key=lambda column: column[0] != "Go")),
            "docs/modules.md": modules.page(api, model.left_out()), "docs/models.md": networks.page(api.networks)}
