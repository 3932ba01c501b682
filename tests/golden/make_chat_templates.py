"""Makes tests/golden/chat_templates.json: chat templates and snippets of Jinja with the texts that transformers makes of them.

    python make_chat_templates.py chat_templates.json

A case has the name of a template or a snippet, the number of its conversation, other variables, and either the text or null
where Jinja refuses. The templates of whole models are in the forms that Llama-2, Llama-3, Mistral, Qwen2, Qwen3, ChatML, Zephyr, Gemma and Phi-3 use.
Needs transformers and jinja2.
"""

import json
import pathlib
import sys

from transformers.utils.chat_template_utils import _compile_jinja_template

TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
MODELS = {
    "llama-3": (
        "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + "
        "message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}"
        "{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}"
        "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
    ),
    "llama-2": (
        "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = "
        "messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}"
        "{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
        "{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + "
        "'\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}"
        "{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}"
        "{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
    ),
    "mistral": (
        "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
        "{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == "
        "'assistant' %}{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and assistant roles "
        "are supported!') }}{% endif %}{% endfor %}"
    ),
    "qwen2": (
        "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
        "You are a helpful assistant.<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + "
        "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
        "}}{% endif %}"
    ),
    "chatml": (
        "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% for message in "
        "messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ),
    "zephyr": (
        "{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>\n' + message['content'] + "
        "eos_token }}\n{% elif message['role'] == 'system' %}\n{{ '<|system|>\n' + message['content'] + eos_token }}\n"
        "{% elif message['role'] == 'assistant' %}\n{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n"
        "{% endif %}\n{% if loop.last and add_generation_prompt %}\n{{ '<|assistant|>' }}\n{% endif %}\n{% endfor %}"
    ),
    "gemma": (
        "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Conversation roles must alternate') }}{% endif %}{% if (message['role'] == 'assistant') %}"
        "{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '\n' "
        "+ message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}{% if add_generation_prompt %}"
        "{{'<start_of_turn>model\n'}}{% endif %}"
    ),
    "phi-3": (
        "{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>\n' + "
        "message['content'] + '<|end|>\n'}}{% elif message['role'] == 'user' %}{{'<|user|>\n' + message['content'] + "
        "'<|end|>\n'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}"
        "{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
    ),
    "with tools": """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in message.content %}
                {%- set reasoning_content = message.content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- set content = message.content.split('</think>')[-1].lstrip('\\n') %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning_content)) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' + tool_call.name + '", "arguments": ' }}
                {{- tool_call.arguments if tool_call.arguments is string else tool_call.arguments | tojson }}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' ~ message.content ~ '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
""",
    "with selections": """{{- bos_token }}
{%- set ns = namespace() -%}
{%- set ns.index = 0 %}
{%- set user_messages = messages | selectattr("role", "equalto", "user") | list %}
{%- for message in messages | rejectattr("role", "equalto", "tool") %}
    {%- if not (message.tool_calls is defined and message.tool_calls is not none) %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message["role"] == "user" %}
        {%- if message == user_messages[-1] %}
            {{- "[LAST:" ~ ns.index ~ "]" }}
        {%- endif %}
        {{- "[INST]" + message["content"] + "[/INST]" }}
    {%- elif message.tool_calls is defined %}
        {%- for tool_call in message.tool_calls %}
            {%- for key, val in tool_call.function.items() if key != "return" %}
                {%- if val is string %}
                    {{- '"' + key + '": "' + val + '"' }}
                {%- else %}
                    {{- '"' + key + '": ' + val|tojson }}
                {%- endif %}
                {%- if not loop.last %}{{- ", " }}{%- endif %}
            {%- endfor %}
        {%- endfor %}
    {%- else %}
        {{- " " + message.content|trim + eos_token }}
    {%- endif %}
{%- endfor %}
""",
}
CONVERSATIONS = [
    [{"role": "user", "content": "Hello, who are you?"}],
    [{"role": "system", "content": "You are terse."}, {"role": "user", "content": "  Count to three.\n"},
     {"role": "assistant", "content": "<think>\nsmall\n</think>\n\n1, 2, 3"}, {"role": "user", "content": "Weiter: \u4f60\u597d \"x\" \\ \u00e9"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": " b "}, {"role": "user", "content": ""}],
    [{"role": "assistant", "content": "first"}, {"role": "user", "content": "second"}],
    [{"role": "user", "content": "weather?"},
     {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {
         "name": "weather", "arguments": {"place": "K\u00f6ln", "days": 2, "return": 1.5}}}]},
     {"role": "tool", "content": "rain"}, {"role": "tool", "content": "sun"}],
]  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "z": [1, 2.5, None, True]}}}]
SNIPPETS = [
    # values and operators
    "{{ 1 + 2 * 3 - 4 // 3 }} {{ 7 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2.5 * 2 }} {{ 1e16 }} {{ 0.00001 }} {{ 1.0 }}",
    "{{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1 / 3 }} {{ 100000000.0 * 10 }} {{ 12345678901234567.0 }}",
    "{{ true }} {{ none }} {{ false or 'x' }} {{ 0 and 'y' }} {{ '' or none }} {{ not 0 }} {{ not '' and not none }}",
    "{{ 'a' ~ 1 ~ true ~ none ~ missing ~ 1.5 }} {{ 'a' 'b' \"c\" }} {{ 'ab' * 3 }}",
    "{{ 'a' + 1 }}", "{{ missing + 'a' }}", "{{ missing.x }}", "{{ missing['x'] }}", "{{ none.x }}", "{{ 1 // 0 }}", "{{ 'a' < 1 }}",
    "{{ messages[0].nothing.more }}", "{{ messages[99] }}|{{ messages[-1].role }}|{{ messages['x'] }}|{{ 'abc'[1] }}|{{ 'abc'[9] }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' == 'a' }} {{ [1, 'a'] == [1, 'a'] }} {{ {'a': 1} == {'a': 1} }}",
    "{{ 'b' in 'abc' }} {{ 'x' not in ['x'] }} {{ 'role' in messages[0] }} {{ 1 in [1.0] }} {{ 'a' in missing }} {{ not 'a' in 'b' }}",
    "{{ 1 in 'abc' }}", "{{ 'a' in none }}", "{{ missing == missing2 }} {{ missing == none }} {{ missing is defined }}",
    "{{ 'yes' if 1 else 'no' }} {{ 'yes' if 0 else 'no' }} [{{ 'yes' if 0 }}] {{ 1 if 0 else 2 if 0 else 3 }}",
    "{{ (1, 2)[1] }} {{ ()|length }} {{ [1, 2, 3,][-1] }} {{ {'a': {'b': 'c'},}.a.b }} {{ {'a': 1}['a'] }} {{ [[1, 2], [3]][0].1 }}",
    "{{ 'abcdef'[1:3] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[-3:] }} {{ 'abcdef'[:-1] }} {{ 'abcdef'[4:1:-2] }} {{ [1,2,3][5:] | tojson }}",
    "{{ '\u4f60\u597d\u4e16\u754c'[1:] }} {{ '\u4f60\u597d'|length }} {{ '\\n\\t\\x41\\u4f60\\U0001f600\\'' }} {{ 'a\\qb' if 0 else '' }}",
    "{{ -1|string + 'x' }} {{ -(2) + 3 }} {{ 1 + 2|string|length }} {{ (1 == 2) is false }} {{ 2 is even and 3 is odd }}",
    "{{ [1, 2] + [3] | list | tojson }} {{ ([1, 2] + [3]) | tojson }}", "{{ [1] + 'a' }}", "{{ 3 * 'a' if 0 else 'b' }}",
    # filters
    "[{{ '  a b \u3000\n' | trim }}] [{{ 'xxaxx' | trim('x') }}] [{{ missing | trim }}] [{{ 12 | trim }}]",
    "{{ 'aBc \u00df\u00e9' | upper }} {{ 'ABC \u00c9' | lower }} {{ 'hELLO wORLD' | capitalize }} {{ 'hello wORLD-x (y)' | title }}",
    "{{ [1, 'a', none, true] | join(', ') }} {{ 'abc' | join('-') }} {{ missing | join }} {{ {'a': 1, 'b': 2} | join('+') }}",
    "{{ [3, 1] | first }} {{ [3, 1] | last }} [{{ [] | first }}] {{ 'abc' | last }} {{ [1, 2] | reverse | list | tojson }} {{ 'abc' | reverse }}",
    "{{ 'aXbXc' | replace('X', '--') }} {{ 'aXbXc' | replace('X', '', 1) }} {{ 5 | replace('5', '6') }}",
    "{{ missing | default('d') }} {{ '' | default('d') }} {{ '' | default('d', true) }} {{ none | default('d') }} {{ missing | d }}",
    "{{ '12' | int + 1 }} {{ 'x' | int }} {{ 'x' | int(7) }} {{ 3.9 | int }} {{ ' 4 ' | int }} {{ '3.7' | int }} {{ true | int }}",
    "{{ {'b': 1, 'a': [1, 2.0, none, true, 'x\"\\n\u00e9']} | tojson }} {{ 'a\\\\b\\x1f\\x7f/' | tojson }} {{ [] | tojson }} {{ {} | tojson }}",
    "{{ {'b': 1, 'a': [1, {'c': []}], 'e': {}} | tojson(indent=2) }}", "{{ missing | tojson }}",
    "{% for k, v in {'a': 1, 'b': 2} | items %}{{ k }}={{ v }};{% endfor %}{% for k, v in {'a': 1}.items() %}{{ k ~ v }}{% endfor %}",
    "{{ {'a': 1}.keys() | list | tojson }} {{ {'a': 1}.values() | list | tojson }} {{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b') }} {{ {}.get('b', 2) }}",
    "{{ messages | map(attribute='role') | join(',') }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }}",
    "{{ messages | rejectattr('role', 'in', ['user']) | map(attribute='content') | list | tojson }} {{ messages | selectattr('content') | list | length }}",
    "{{ [1, 2, 3] | select('odd') | list | tojson }} {{ ['a', 'b'] | reject('equalto', 'a') | join }} {{ ['', 'x'] | select | join }} {{ none | select | list | length }}",
    "{{ 'é' | tojson(ensure_ascii=False) }} {{ [1] | tojson(ensure_ascii=false, indent=4) }}",
    "{{ 5 | length }}", "{{ none | length }}", "{{ missing | length }} {{ 'abc' | count }} {{ {'a': 1} | length }}", "{{ 'x' | safe }}",
    # tests
    "{{ 1 is defined }} {{ none is none }} {{ missing is none }} {{ 'a' is string }} {{ 1 is string }} {{ {} is mapping }} {{ [] is mapping }}",
    "{{ [] is iterable }} {{ 'a' is iterable }} {{ 1 is iterable }} {{ missing is iterable }} {{ [] is sequence }} {{ 'a' is sequence }} {{ {} is sequence }}",
    "{{ 1 is number }} {{ true is number }} {{ 1.5 is number }} {{ 1 is integer }} {{ true is integer }} {{ 1.0 is float }} {{ true is boolean }}",
    "{{ 1 is true }} {{ true is true }} {{ 0 is false }} {{ 6 is divisibleby 3 }} {{ 6 is divisibleby(4) }} {{ 'a' is in ['a'] }} {{ 'a' is not in ['a'] }}",
    "{{ 1 is eq 1 }} {{ 1 is equalto(2) }} {{ 1 is ne 2 }} {{ 1 is lt 2 }} {{ 1 is ge 2 }} {{ 'x' is not defined or 1 }} {{ missing is undefined }}",
    # methods
    "[{{ ' a '.strip() }}] [{{ ' a '.lstrip() }}] [{{ ' a '.rstrip() }}] [{{ 'xay'.strip('xy') }}] {{ 'a,b,,c'.split(',') | tojson }}",
    "{{ ' a  b '.split() | tojson }} {{ 'a.b.c'.split('.', 1) | tojson }} {{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'bc')) }}",
    "{{ 'aXb'.replace('X', 'y') }} {{ 'aB'.upper() + 'aB'.lower() }} {{ 'hELLO'.capitalize() }}", "{{ none.strip() }}", "{{ missing.strip() }}",
    # statements
    "{% for i in range(3) %}{{ i }}{% if not loop.last %},{% endif %}{% else %}none{% endfor %} {% for i in [] %}x{% else %}none{% endfor %}",
    "{% for i in [1, 2, 3, 4] if i is even %}{{ loop.index }}:{{ i }}:{{ loop.length }}:{{ loop.revindex }}:{{ loop.revindex0 }}:{{ loop.first }} {% endfor %}",
    "{% for i in [1, 2, 3] %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }} {% endfor %}{% for i in range(1, 9, 3) %}{{ i }}{% endfor %}{{ range(3, 0, -1) | list | tojson }}",
    "{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}",
    "{% set ns = namespace(x=1, y='a') %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% set ns.z = i %}{% endfor %}{{ ns.x }}{{ ns.y }}{{ ns.z }}",
    "{% if true %}{% set a = 1 %}{% endif %}{{ a }}{% if false %}{% set b = 1 %}{% endif %}[{{ b }}]",
    "{% if 0 %}a{% elif 1 %}b{% elif 1 %}c{% else %}d{% endif %}{% if none %}a{% else %}{% if 0.0 %}b{% else %}c{% endif %}{% endif %}",
    "{% set block %}a {{ 1 + 1 }}{% set inner = 5 %} b{% endset %}[{{ block }}]{{ inner }}{{ block | upper }}",
    "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in [1, 2] %}{% for j in [1, 2] %}{{ i }}{{ j }}{{ loop.index }}{% if j == 1 %}{% continue %}{% endif %};{% endfor %}{{ loop.index }}{% endfor %}",
    "{% generation %}a{{ bos_token }}{% endgeneration %}b", "{{ raise_exception('no') }}", "{% if messages[0].role != 'user' %}{{ raise_exception('no ' + 'way') }}{% endif %}ok",
    "{% for c in 'a\u4f60' %}[{{ c }}]{% endfor %}{% for k in {'x': 1} %}{{ k }}{% endfor %}{% for x in missing %}y{% endfor %}", "{% for x in none %}{% endfor %}",
    "{% for a, b in [[1, 2], 'xy'] %}{{ a }}{{ b }}{% endfor %}", "{% for a, b in [[1, 2, 3]] %}{% endfor %}",
    "{{ strftime_now is defined }} {{ other is defined }}", "{% set x = messages, 1 %}{{ x | length }}", "{{ 1, 2 | length }}" if False else "{{ ((1, 2)) | length }}",
    "{% for m in messages %}{% if m.role == 'user' %}{% set last = loop.index0 %}{% endif %}{% endfor %}[{{ last }}]",
    # white space
    "a\n  {% if 1 %}\n  b\n  {% endif %}\n  c\n", "a\n  {%- if 1 -%}\n  b\n  {%- endif -%}\n  c\n\n", "  {{ 1 }}\n  {{- 2 }}\n  {{ 3 -}}\n  4\n",
    "a {# comment #} b\n  {# line #}\nc {#- both -#} d {#-#} e\n{#+ x +#}\nf", "  {%+ if 1 %}x{%+ endif +%}\ny", "{% if 1 %}\r\nx\r\n{% endif %}\r\ny\r",
    "x{% if 1 %} {% endif %}\n\n  y", "\n\n{% if 1 %}\n\na{% endif %}\n\n", "a{{ '}}' }}b{{ {'x': {'y': 1}}['x'].y }}{{ \"%}\" }}", "{ { } % } {{'{{'}}",
    "\t{% set x = 1 %}\t\n\u3000{% if x %}y{% endif %}", "{%- for i in [1] -%}  {{ i }}  {%- endfor +%}\n z", "a\n{% set x = 'b\nc' %}\n{{ x }}\n",
]  # fmt: skip


def text_of(template, variables):
    try:
        return _compile_jinja_template(template).render(**variables)
    except Exception:  # whatever Jinja or Python refuses
        return None


def main():
    cases = []

    def add(template, conversation, **more):
        variables = {"messages": CONVERSATIONS[conversation], "tools": None, "documents": None, "add_generation_prompt": True}
        text = text_of(MODELS.get(template, template), {**variables, **TOKENS, **more})
        cases.append({"template": template, "conversation": conversation, "more": more, "text": text})

    for name in MODELS:
        for conversation in range(len(CONVERSATIONS)):
            add(name, conversation)
        add(name, 2, add_generation_prompt=False)
    for conversation in range(len(CONVERSATIONS)):
        add("with tools", conversation, tools=TOOLS, enable_thinking=False)
    for snippet in SNIPPETS:
        add(snippet, 1)
    stored = {"templates": MODELS, "conversations": CONVERSATIONS, "tokens": TOKENS, "cases": cases}
    pathlib.Path(sys.argv[1]).write_text(json.dumps(stored, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{len(cases)} cases, {sum(case['text'] is None for case in cases)} refused")


if __name__ == "__main__":
    main()
