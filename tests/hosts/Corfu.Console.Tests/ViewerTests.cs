using Corfu.WebConsole.Tests.Support;
using Microsoft.Playwright;

namespace Corfu.WebConsole.Tests;

/// <summary>Viewers without script, with a keyboard alone, and names that would be markup.</summary>
public sealed class ViewerTests(ConsoleFixture console)
{
    [Theory]
    [InlineData("/")]
    [InlineData("/timeline")]
    [InlineData("/processes")]
    [InlineData("/objects")]
    [InlineData("/objects?name=orders%2Fopen&at=60")]
    [InlineData("/transactions")]
    [InlineData("/clients")]
    public async Task Page_is_whole_without_script(string address)
    {
        var page = await console.OpenAsync(address, new View(HasScript: false));
        await using var context = page.Context;
        Assert.NotEqual("", await page.Locator("h1").InnerTextAsync());
        await Assertions.Expect(page.Locator(".page > noscript a"))
            .ToBeVisibleAsync();
        Assert.True(await page.Locator("main").GetByRole(AriaRole.Heading).CountAsync() > 1);
    }

    [Fact]
    public async Task History_is_reached_without_script()
    {
        var page = await console.OpenAsync("/objects?name=orders%2Fopen", new View(HasScript: false));
        await using var context = page.Context;
        await page.GetByRole(AriaRole.Link, new PageGetByRoleOptions { Name = "Earlier change" }).ClickAsync();
        Assert.Contains("at=", page.Url);
        await page.Locator("input[type=range]").FillAsync("20");
        await page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Show" }).ClickAsync();
        Assert.Contains("at=20", page.Url);
        await page.GetByText("With everything below 20 applied").WaitForAsync();
    }

    [Fact]
    public async Task Slider_shows_contents_of_the_past()
    {
        var page = await console.OpenAsync("/objects?name=orders%2Fopen", new View());
        await using var context = page.Context;
        var row = page.Locator("table.contents tr", new PageLocatorOptions { HasText = "7760" });
        await Assertions.Expect(row).ToContainTextAsync("paid");
        await page.Locator("input[type=range]").FocusAsync();
        await page.Keyboard.PressAsync("Home");
        await page.WaitForURLAsync("**at=*");
        await Assertions.Expect(row).ToHaveCountAsync(0);
        var steps = page.GetByRole(AriaRole.Link, new PageGetByRoleOptions { Name = "Now" });
        await steps.ClickAsync();
        await Assertions.Expect(row).ToContainTextAsync("paid");
    }

    [Fact]
    public async Task Keyboard_reaches_the_content_and_every_page()
    {
        var page = await console.OpenAsync("/", new View());
        await using var context = page.Context;
        await page.Keyboard.PressAsync("Tab");
        await Assertions.Expect(page.Locator(".skip")).ToBeFocusedAsync();
        await page.Keyboard.PressAsync("Enter");
        await Assertions.Expect(page.Locator("main")).ToBeFocusedAsync();
        foreach (var name in (string[])["Timeline", "Processes", "Objects", "Transactions", "Clients", "Overview"])
        {
            var link = page.Locator("nav").GetByRole(
                AriaRole.Link, new LocatorGetByRoleOptions { Name = name, Exact = true });
            await TabToAsync(page, link);
            await page.Keyboard.PressAsync("Enter");
            await Assertions.Expect(page.Locator("h1")).ToHaveTextAsync(name);
            await Assertions.Expect(link).ToHaveAttributeAsync("aria-current", "page");
        }
    }

    [Fact]
    public async Task Focus_stays_while_figures_change()
    {
        var page = await console.OpenAsync("/", new View());
        await using var context = page.Context;
        var link = page.GetByRole(AriaRole.Link, new PageGetByRoleOptions { Name = "All figures" });
        await link.FocusAsync();
        var before = await page.Locator("#updated time").InnerTextAsync();
        await Assertions.Expect(page.Locator("#updated time")).Not.ToHaveTextAsync(before);
        await Assertions.Expect(link).ToBeFocusedAsync();
    }

    [Fact]
    public async Task Lost_transaction_names_the_winning_write()
    {
        var page = await console.OpenAsync("/transactions?show=lost", new View());
        await using var context = page.Context;
        var lost = page.Locator(".transactions > li");
        await Assertions.Expect(lost).ToHaveCountAsync(1);
        await Assertions.Expect(lost).ToContainTextAsync("orders/open [7781]");
        await Assertions.Expect(lost.Locator(".loss")).ToContainTextAsync("lost to");
    }

    [Fact]
    public async Task Hostile_name_is_shown_as_text()
    {
        var page = await console.OpenAsync("/objects", new View());
        await using var context = page.Context;
        var dialogs = 0;
        page.Dialog += (_, dialog) =>
        {
            dialogs++;
            dialog.DismissAsync();
        };
        var link = page.GetByText("<img src=x onerror=alert(1)>");
        await link.First.ClickAsync();
        await Assertions.Expect(page.Locator("h1")).ToContainTextAsync("<img src=x onerror=alert(1)>");
        await Assertions.Expect(page.GetByText("</td></tr><script>alert(1)</script>").First).ToBeVisibleAsync();
        // A rendering later the same stands there, now from the event stream.
        var before = await page.Locator("#updated time").InnerTextAsync();
        await Assertions.Expect(page.Locator("#updated time")).Not.ToHaveTextAsync(before);
        await Assertions.Expect(page.Locator("h1")).ToContainTextAsync("<img src=x onerror=alert(1)>");
        Assert.Equal(0, await page.Locator("main img, main script").CountAsync());
        Assert.Equal(0, dialogs);
        await page.ScreenshotAsync(new PageScreenshotOptions
        {
            Path = Path.Combine(ConsoleFixture.Artifacts, "hostile-1280-light.png"),
        });
    }

    private static async Task TabToAsync(IPage page, ILocator wanted)
    {
        for (var i = 0; i < 60; i++)
        {
            if (await wanted.EvaluateAsync<bool>("element => element === document.activeElement")) return;
            await page.Keyboard.PressAsync("Tab");
        }

        Assert.Fail("Sixty steps of the keyboard do not reach the link.");
    }
}
