using Corfu.WebConsole.Tests.Support;
using Deque.AxeCore.Playwright;
using Microsoft.Playwright;

namespace Corfu.WebConsole.Tests;

/// <summary>Every page in every form; screenshots are kept under artifacts/console.</summary>
public sealed class PageTests(ConsoleFixture console)
{
    private static readonly string[] s_pages = ["overview"];

    public static TheoryData<string, int, bool> Forms
    {
        get
        {
            var forms = new TheoryData<string, int, bool>();
            foreach (var page in s_pages)
            {
                foreach (var width in (int[])[1280, 390])
                {
                    forms.Add(page, width, false);
                    forms.Add(page, width, true);
                }
            }

            return forms;
        }
    }

    [Theory]
    [MemberData(nameof(Forms))]
    public async Task Page_is_accessible_and_fits_its_width(string name, int width, bool isDark)
    {
        var view = new View(width, isDark);
        var page = await console.OpenAsync(name == "overview" ? "/" : $"/{name}", view);
        await using var context = page.Context;
        await page.Locator("main h1").WaitForAsync();
        await page.WaitForTimeoutAsync(1200);
        await page.ScreenshotAsync(new PageScreenshotOptions
        {
            Path = Path.Combine(ConsoleFixture.Artifacts, $"{name}-{view}.png"),
            FullPage = true,
        });
        var overflow = await page.EvaluateAsync<int>(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth");
        Assert.Equal(0, overflow);
        var found = await page.RunAxe();
        Assert.Empty(found.Violations.SelectMany(
            violation => violation.Nodes.Select(node => $"{violation.Id}: {node.Html}")));
    }
}
