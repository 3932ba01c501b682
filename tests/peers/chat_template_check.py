"""Compares the texts that dragoman makes of chat templates with those of transformers.

    python chat_template_check.py build/tests/golden/chat_template_tool FOLDER

FOLDER has templates of real models, *.jinja. Each is run on several conversations. A template beyond the supported subset
of Jinja must be refused by name; all others must give the same text, or fail where Jinja fails. Needs transformers.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "golden"))
import make_chat_templates as made  # noqa: E402

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


def ours(tool, template, variables, folder):
    (folder / "template").write_text(template, encoding="utf-8", newline="")
    (folder / "variables").write_text(json.dumps(variables, ensure_ascii=False), encoding="utf-8")
    done = subprocess.run([tool, folder / "template", folder / "variables"], capture_output=True, check=False)
    return done.stdout.decode() if done.returncode == 0 else None, done.stderr.decode().strip()


def main():
    tool, templates = sys.argv[1], pathlib.Path(sys.argv[2])
    same = refused = different = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in sorted(templates.glob("*.jinja")):
            template = path.read_text(encoding="utf-8")
            for number, conversation in enumerate(made.CONVERSATIONS):
                for tools in (None, made.TOOLS):
                    variables = {"messages": conversation, "tools": tools, "documents": None, "add_generation_prompt": True, **TOKENS}
                    expected = made.text_of(template, variables)
                    seen, error = ours(tool, template, variables, folder)
                    if seen == expected:
                        same += 1
                    elif seen is None and ("not supported" in error or "is no escape" in error or "cannot be written as text" in error):
                        refused += 1
                        if number == 0 and tools is None:
                            print(f"refused    {path.name}: {error[:160]}")
                    else:
                        different += 1
                        print(f"DIFFERENT  {path.name} {number}: {error[:160]}\n  seen     {seen!r}\n  expected {expected!r}"[:900])
    print(f"{same} texts the same, {refused} refused by name, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
