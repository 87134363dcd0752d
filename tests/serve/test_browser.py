"""The playground in a real browser: headless Chromium, driven by ChromeDriver."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.serve.conftest import serving

pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver import Chrome, ChromeOptions, ChromeService, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="Chromium is not installed (Debian's packages chromium and chromium-driver)"
)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1280,800")  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=ChromeService(DRIVER or ""))
    yield chrome
    chrome.quit()


class Page:
    """The playground, as its readers use it."""

    def __init__(self, browser: Chrome) -> None:
        self.browser = browser

    def open(self, url: str) -> None:
        self.browser.get("about:blank")
        self.browser.get(url)
        self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "html[data-ready=yes]"))

    def until(self, condition: Any) -> Any:
        return WebDriverWait(self.browser, 20).until(lambda _: condition())

    def one(self, selector: str) -> Any:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return str(self.one(selector).text)

    def write(self, pane: str, text: str) -> None:
        area = self.one(f"#{pane}")
        area.send_keys(Keys.CONTROL, "a")
        area.send_keys(Keys.DELETE)
        area.send_keys(text)

    def run(self) -> None:
        self.one("#run").click()
        self.until(lambda: self.one("#run").is_enabled() and self.text("#summary") != "Running …")

    def problems(self) -> list[str]:
        """What the browser complains of: scripts that fail, what its policy has blocked."""
        return [entry["message"] for entry in self.browser.get_log("browser")]


@pytest.fixture
def page(browser: Chrome) -> Page:
    return Page(browser)


def test_a_reader_clicks_through(page: Page, address: str) -> None:
    page.open(address)
    assert "create schema Trade" in page.one("#epl").get_property("value")
    assert len(page.browser.find_elements(By.CSS_SELECTOR, "#examples option")) >= 8
    assert "create" in [e.text for e in page.browser.find_elements(By.CSS_SELECTOR, "#epl-pane .colours .keyword")]

    page.run()
    assert page.text("#output h3") == "2001-01-01 08:00:00.000"
    assert page.text("#output h4") == "Large"
    cells = page.browser.find_elements(By.CSS_SELECTOR, "#output tr.insert:first-child td")
    assert [cell.text for cell in cells][:3] == ["+", "'ACM'", "2500.0"]
    page.one("#as-text").click()
    assert "Alert-output={symbol='EPL', amount=6120.0}" in page.text("#output pre")

    for tab, expected in (("timeline", "Large"), ("plan", "volume >= 100"), ("current", "No statement holds rows")):
        page.one(f"#tab-{tab}").click()
        assert expected in page.text(f"#{tab}")
    page.one("#examples").send_keys("Sliding")
    page.until(lambda: "#time(10 seconds)" in page.one("#epl").get_property("value"))
    page.one("#tab-output").click()
    page.one("#script").send_keys(Keys.CONTROL, Keys.ENTER)
    page.until(lambda: "Remove" in page.text("#output"))
    page.one("#tab-timeline").click()
    assert page.browser.find_elements(By.CSS_SELECTOR, "#timeline rect.held")
    page.one("#theme").click()
    assert page.one("html").get_attribute("data-theme") in ("light", "dark")
    assert page.problems() == []


def test_errors_are_marked_at_their_place(page: Page, address: str) -> None:
    page.open(address)
    page.write("epl", "create schema T(a int);\nselect b frm T;")
    page.write("script", "T = {a=1}\nT = {a=")
    page.run()
    problems = page.browser.find_elements(By.CSS_SELECTOR, ".problem")
    assert len(problems) == 2
    assert "Incorrect syntax near" in page.text("#problems")
    assert "^" in page.text("#problems pre")
    assert page.text("#epl-pane .numbers .wrong").strip() == "2"
    assert page.browser.find_elements(By.CSS_SELECTOR, "#epl-pane .wrong-place")
    page.browser.find_elements(By.CSS_SELECTOR, ".problem button")[-1].click()
    assert page.browser.switch_to.active_element.get_attribute("id") == "epl"
    assert page.problems() == []


ATTACK = "<img src=x onerror=document.title=1><script>document.title=1</script>"


def test_markup_in_texts_and_events_stays_text(page: Page, address: str) -> None:
    page.open(address)
    page.write("epl", f"create schema T(a string);\n@name('{ATTACK}') select a as `{ATTACK}` from T;")
    page.write("script", f"T = {{a='{ATTACK}'}}")
    page.run()
    for tab in ("output", "timeline", "plan", "current"):
        page.one(f"#tab-{tab}").click()
    assert ATTACK in page.one("#output").get_property("textContent")
    assert page.browser.find_elements(By.CSS_SELECTOR, "main img:not(.picture), main script") == []
    assert page.browser.title == "EPL playground"
    assert page.problems() == []


def test_shared_link_shows_its_texts_and_runs_nothing(page: Page, address: str) -> None:
    page.open(address)
    page.write("epl", "create schema T(a int); @name('Linked ☃') select a from T;")
    page.write("script", "T = {a=42}")
    page.one("#share").click()
    page.until(lambda: "#v1=" in page.browser.current_url)
    link = page.browser.current_url
    runs = _runs(page, address)
    page.open(link)
    assert "Linked ☃" in page.one("#epl").get_property("value")
    assert page.one("#script").get_property("value") == "T = {a=42}"
    assert "come from a link" in page.text("#notice")
    assert page.text("#summary") == ""
    assert _runs(page, address) == runs
    page.run()
    assert "42" in page.text("#output")
    page.open(f"{address}/#v1=AAAA")
    assert "damaged" in page.text("#notice")


def _runs(page: Page, address: str) -> list[str]:
    import httpx

    return [line for line in httpx.get(f"{address}/metrics").text.splitlines() if line.startswith("epl_playground_runs_total")]


def test_token_comes_in_the_fragment_and_leaves_it(page: Page) -> None:
    token = "a-token-of-enough-characters"
    with serving(token=token) as address:
        page.open(address)
        assert page.one("#access").is_displayed()
        page.problems()
        page.open(f"{address}/#token={token}")
        assert page.browser.current_url == f"{address}/"
        assert not page.one("#access").is_displayed()
        page.run()
        assert page.text("#output h4") == "Large"
        assert page.problems() == []
