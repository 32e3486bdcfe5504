using Corfu.Hosting;
using Corfu.WebConsole.Tests.Support;
using Microsoft.Playwright;

namespace Corfu.WebConsole.Tests;

/// <summary>Processes that do not answer, one after the other, until no majority is left; then the console
/// itself.</summary>
public sealed class SilenceTests(ConsoleFixture console)
{
    private const float Patience = 60_000;

    [Fact]
    public async Task Silent_process_is_never_called_dead_by_the_console()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Automatic = false });
        await using var server = await ConsoleFixture.StartServerAsync(cluster.ConnectionString);
        await using var context = await console.NewStrangerAsync();
        var page = await context.NewPageAsync();
        await page.GotoAsync(server.Address);
        await Assertions.Expect(page.Locator(".verdict")).ToContainTextAsync("OK", Within());

        await cluster.StopNodeAsync("unit-2");
        var row = page.Locator("#processes .rows > li", new PageLocatorOptions { HasText = "no answer from here" });
        await Assertions.Expect(row).ToHaveCountAsync(1, new() { Timeout = Patience });
        await Assertions.Expect(page.Locator(".verdict")).ToContainTextAsync("DOWN", Within());
        await Assertions.Expect(row).ToContainTextAsync("of 3 agents", Within());
        await ShootAsync(page, "silent-1280-light");

        await cluster.StopNodeAsync("unit-1");
        var notice = page.Locator("#sight .notice");
        await Assertions.Expect(notice).ToContainTextAsync(
            "2 of 4 processes answer here. No majority of acceptors does", Within());
        await Assertions.Expect(page.Locator(".verdict")).ToContainTextAsync("UNKNOWN", Within());
        await ShootAsync(page, "no-majority-1280-light");

        await cluster.StartNodeAsync("unit-1");
        await cluster.StartNodeAsync("unit-2");
        await Assertions.Expect(page.Locator(".verdict")).ToContainTextAsync("OK", Within());

        await server.DisposeAsync();
        await Assertions.Expect(page.Locator("#link-lost")).ToContainTextAsync("The console does not answer", Within());
        await Assertions.Expect(page.Locator("#figures .figure.old").First).ToBeVisibleAsync();
        await Assertions.Expect(page.Locator(".figure .seen").First).ToContainTextAsync("old");
        await ShootAsync(page, "lost-link-1280-light");
    }

    private static LocatorAssertionsToContainTextOptions Within() => new() { Timeout = Patience };

    private static Task ShootAsync(IPage page, string name) => page.ScreenshotAsync(new PageScreenshotOptions
    {
        Path = Path.Combine(ConsoleFixture.Artifacts, $"{name}.png"),
        FullPage = true,
    });
}
