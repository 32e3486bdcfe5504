using Corfu.WebConsole.Tests.Support;
using Deque.AxeCore.Playwright;
using Microsoft.Playwright;

namespace Corfu.WebConsole.Tests;

/// <summary>Every page in every form; screenshots are kept under artifacts/console.</summary>
public sealed class PageTests(ConsoleFixture console)
{
    public static TheoryData<string, string> Pages => new()
    {
        { "timeline", "/timeline" },
        { "processes", "/processes" },
        { "objects", "/objects" },
        { "object", "/objects?name=orders%2Fopen" },
        { "transactions", "/transactions" },
        { "lost", "/transactions?show=lost" },
        { "clients", "/clients" },
        { "overview", "/" },
    };

    [Theory]
    [MemberData(nameof(Pages))]
    public async Task Page_is_accessible_and_fits_the_width(string name, string address)
    {
        var page = await console.OpenAsync(address, new View());
        await using var context = page.Context;
        var errors = new List<string>();
        page.Console += (_, message) =>
        {
            if (message.Type == "error") errors.Add(message.Text);
        };
        foreach (var width in (int[])[1280, 390])
        {
            await page.SetViewportSizeAsync(width, width < 600 ? 844 : 860);
            foreach (var scheme in (ColorScheme[])[ColorScheme.Light, ColorScheme.Dark])
            {
                await page.EmulateMediaAsync(new PageEmulateMediaOptions { ColorScheme = scheme });
                await ShootAsync(page, $"{name}-{width}-{scheme.ToString().ToLowerInvariant()}");
                // Each width and each scheme once: the rules take as long as the rest together.
                if ((width < 600) == (scheme == ColorScheme.Dark)) Assert.Empty(await FaultsOfAsync(page));
            }

            var overflow = await page.EvaluateAsync<int>(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth");
            Assert.Equal(0, overflow);
        }

        Assert.Empty(errors);
    }

    private static Task ShootAsync(IPage page, string name) => page.ScreenshotAsync(new PageScreenshotOptions
    {
        Path = Path.Combine(ConsoleFixture.Artifacts, $"{name}.png"),
        FullPage = true,
    });

    private static async Task<string[]> FaultsOfAsync(IPage page)
    {
        var found = await page.RunAxe();
        return
        [
            .. found.Violations.SelectMany(
                violation => violation.Nodes.Select(node => $"{violation.Id}: {node.Html}")),
        ];
    }
}
