using System.Net;
using Corfu.WebConsole.Tests.Support;
using Microsoft.Playwright;

[assembly: AssemblyFixture(typeof(ConsoleFixture))]

namespace Corfu.WebConsole.Tests.Support;

/// <summary>A cluster with data, one console and one browser for all tests that change none of them.</summary>
public sealed class ConsoleFixture : IAsyncLifetime
{
    private Demo? _demo;
    private ConsoleServer? _server;
    private IPlaywright? _playwright;
    private IBrowser? _browser;
    private string _skip = "";
    private string _state = "";

    /// <summary>The console's address without the token.</summary>
    public Uri Site { get; private set; } = null!;

    internal Demo Demo => _demo!;

    public static string Artifacts { get; } = Path.Combine(RepositoryRoot(), "artifacts", "console");

    public async ValueTask InitializeAsync()
    {
        var (chromium, reason) = await Chromium.FindAsync();
        if (chromium is null)
        {
            _skip = reason;
            return;
        }

        Directory.CreateDirectory(Artifacts);
        _demo = await Demo.StartAsync();
        _demo.StartTraffic();
        await _demo.ReconfigureAsync();
        _server = await StartServerAsync(_demo.Cluster.ConnectionString);
        _playwright = await Playwright.CreateAsync();
        // An expectation ends when it holds; five seconds are few where other tests have the cores.
        Assertions.SetDefaultExpectTimeout(30_000);
        _browser = await _playwright.Chromium.LaunchAsync(new BrowserTypeLaunchOptions
        {
            ExecutablePath = chromium,
            Args = ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
        });
        Site = new Uri(new Uri(_server.Address), "/");
        await using var first = await _browser.NewContextAsync();
        var page = await first.NewPageAsync();
        await page.GotoAsync(_server.Address);
        await page.WaitForURLAsync(Site.ToString());
        _state = await first.StorageStateAsync();
    }

    /// <summary>A tab of a browser that was let in.</summary>
    public async Task<IPage> OpenAsync(string path, View view)
    {
        var context = await NewContextAsync(view);
        var page = await context.NewPageAsync();
        await page.GotoAsync(new Uri(Site, path).ToString());
        return page;
    }

    /// <summary>A browser that has seen nothing yet.</summary>
    public Task<IBrowserContext> NewStrangerAsync()
    {
        Assert.SkipWhen(_skip.Length > 0, _skip);
        return _browser!.NewContextAsync();
    }

    public async ValueTask DisposeAsync()
    {
        if (_browser is not null) await _browser.DisposeAsync();
        _playwright?.Dispose();
        if (_server is not null) await _server.DisposeAsync();
        if (_demo is not null) await _demo.DisposeAsync();
    }

    internal static Task<ConsoleServer> StartServerAsync(string connection) =>
        ConsoleServer.StartAsync(
            new IPEndPoint(IPAddress.Loopback, 0), new ConsoleOptions { Connection = connection });

    private Task<IBrowserContext> NewContextAsync(View view)
    {
        Assert.SkipWhen(_skip.Length > 0, _skip);
        return _browser!.NewContextAsync(new BrowserNewContextOptions
        {
            StorageState = _state,
            ViewportSize = new ViewportSize { Width = view.Width, Height = view.Width < 600 ? 844 : 860 },
            ColorScheme = view.IsDark ? ColorScheme.Dark : ColorScheme.Light,
            JavaScriptEnabled = view.HasScript,
            ReducedMotion = ReducedMotion.Reduce,
        });
    }

    private static string RepositoryRoot()
    {
        var folder = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(folder, "Corfu.slnx"))) folder = Path.GetDirectoryName(folder)!;
        return folder;
    }
}

/// <summary>How a page is looked at.</summary>
public sealed record View(int Width = 1280, bool IsDark = false, bool HasScript = true)
{
    public override string ToString() =>
        $"{Width}-{(IsDark ? "dark" : "light")}{(HasScript ? "" : "-noscript")}";
}
