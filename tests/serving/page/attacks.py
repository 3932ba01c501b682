"""Texts that would run if the page ever took them for markup. None may."""
from flows import expect, look_inside, quoted, show_tab

BASES = [
    "<script>window.ran = 1</script>", "<img src=x onerror=window.ran=1>", "<svg onload=window.ran=1>",
    "<svg><script>window.ran=1</script></svg>", "<iframe src=\"javascript:parent.ran=1\"></iframe>",
    "<a href=\"javascript:window.ran=1\">x</a>", "<body onload=window.ran=1>", "<input autofocus onfocus=window.ran=1>",
    "<details open ontoggle=window.ran=1>", "<video><source onerror=window.ran=1></video>",
    "<math><mtext><img src=x onerror=window.ran=1></mtext></math>", "<style>@import 'javascript:window.ran=1'</style>",
    "<object data=\"javascript:window.ran=1\"></object>", "<embed src=\"javascript:window.ran=1\">",
    "<form action=\"javascript:window.ran=1\"><button>x</button></form>", "<marquee onstart=window.ran=1>x</marquee>",
    "<template><script>window.ran=1</script></template>", "<noscript><p title=\"</noscript><img src=x onerror=window.ran=1>\">",
    "<base href=\"javascript:window.ran=1//\">", "<link rel=stylesheet href=\"javascript:window.ran=1\">",
    "<meta http-equiv=refresh content=\"0;url=javascript:window.ran=1\">", "<textarea></textarea><img src=x onerror=window.ran=1>",
    "<select><option><img src=x onerror=window.ran=1></select>", "<xss style=animation-name:x onanimationstart=window.ran=1>",
    "<p draggable=true ondragstart=window.ran=1>x</p>",
]
AROUND = ["{}", "\"'></title></textarea></script>{}<!--"]
PAYLOADS = [around.format(base) for around in AROUND for base in BASES]  # 50


def check_nothing_ran(browser, payload, place):
    expect(not browser.run("Boolean(window.ran)"), f"{place}: this ran: {payload}")
    stray = browser.run("document.querySelectorAll('script:not([src^=\"/assets/\"]), iframe, object, embed, video, marquee, base, meta[http-equiv=refresh], img[src=x]').length")
    expect(stray == 0, f"{place}: became an element: {payload}")


def check_payloads(browser, server):
    """In the text, its pieces and matrices, the language and the error that names it, and the hash of the address."""
    for index, payload in enumerate(PAYLOADS):
        show_tab(browser, "translate")
        browser.run(f"document.getElementById('source').value = {quoted(payload)}; document.getElementById('source').dispatchEvent(new Event('input'))")
        browser.wait("document.getElementById('output').textContent !== '' || document.querySelector('#view-translate .error').textContent !== ''")
        check_nothing_ran(browser, payload, "translate")
        if index % 5 == 0:
            look_inside(browser, payload)
            check_nothing_ran(browser, payload, "look inside")
        show_tab(browser, "translate")
        browser.run("(() => { const from = document.getElementById('from'); const option = document.createElement('option'); option.value = "
                    + quoted(payload) + "; option.textContent = option.value; from.append(option); from.value = option.value;"
                    " from.dispatchEvent(new Event('change')); })()")
        browser.wait("document.querySelector('#view-translate .error').textContent !== ''")
        check_nothing_ran(browser, payload, "an error")
        browser.run("(async () => { const { announce } = await import('/assets/dom.js'); announce(" + quoted(payload) + "); location.hash = encodeURIComponent(" + quoted(payload) + "); })()")
        check_nothing_ran(browser, payload, "announcements and the address")
        browser.open(server.address + "/")
    return len(PAYLOADS)
