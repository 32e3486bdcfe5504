using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;

namespace Corfu.Hosting;

/// <summary>The inside of a node process.</summary>
public static class NodeRunner
{
    private const string AgentFileName = "agent.json";

    /// <summary>Runs the node of a configuration file until SIGTERM, Ctrl-C or cancellation. Prints one line to
    /// <paramref name="output"/> once it serves and nothing more; events go to the log file that the configuration
    /// names, or to the console.</summary>
    /// <exception cref="NodeStartException">The node cannot start: the configuration, a folder in use, an occupied
    /// port...</exception>
    public static Task<int> RunAsync(string configPath, TextWriter output, CancellationToken cancellationToken) =>
        RunAsync(configPath, output, NodeRoles.Log, [], cancellationToken);

    /// <summary>As above, for a process that can serve other protocols and further roles as well.</summary>
    /// <param name="roles">Roles that the configuration may ask for by name.</param>
    /// <param name="frontEnds">Front ends that the configuration may ask for by kind.</param>
    /// <exception cref="NodeStartException">The node cannot start.</exception>
    public static Task<int> RunAsync(string configPath, TextWriter output, NodeRoles roles,
        ImmutableArray<IFrontEnd> frontEnds, CancellationToken cancellationToken) =>
        RunAsync(configPath, output, roles, frontEnds, [], cancellationToken);

    /// <summary>As above, for a process that runs more beside its roles.</summary>
    /// <param name="extensions">Parts that run where the configuration asks for them.</param>
    /// <exception cref="NodeStartException">The node cannot start.</exception>
    public static async Task<int> RunAsync(string configPath, TextWriter output, NodeRoles roles,
        ImmutableArray<IFrontEnd> frontEnds, ImmutableArray<INodeExtension> extensions,
        CancellationToken cancellationToken)
    {
        var options = NodeConfig.Load(configPath, roles);
        // From the lock on, 'corfu node reload' finds this process, which may read its log back for minutes.
        using var held = NodeReloader.Hold();
        using var folderLock = FolderLock.Take(Path.GetDirectoryName(Path.GetFullPath(configPath))!, FolderUse.Node);
        options.AgentFile = Path.Combine(Path.GetDirectoryName(Path.GetFullPath(configPath))!, AgentFileName);
        SocketCompletions.Choose(options);
        CheckFrontEnds(options, configPath, frontEnds);
        if (extensions.IsEmpty && (options.Http is not null || options.Telemetry is not null))
            throw new NodeStartException(
                $"The file {configPath} asks for http or telemetry, which this program does not serve. 'corfu node' "
                + "does.");
        options.AuditFolder = Path.GetDirectoryName(Path.GetFullPath(configPath));
        using var host = Build(options, frontEnds, extensions);
        var logger = host.Services.GetRequiredService<ILoggerFactory>().CreateLogger<CorfuNode>();
        if (OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess) HostingLog.AsRoot(logger);
        using var tls = NodeTls.Open(options, TimeProvider.System, logger);
        options.OpenTls = tls;
        try
        {
            await host.StartAsync(cancellationToken);
        }
        catch
        {
            // The node ends if its front end cannot listen.
            await host.StopAsync(CancellationToken.None);
            throw;
        }

        SocketCompletions.Forget();

        // Reloads count from the moment on that the node says that it serves.
        using var reload = NodeReloader.Begin(configPath, roles, options.Name,
            [
                .. host.Services.GetServices<IHostedService>().OfType<IReloadable>(),
                new LogReload(host.Services.GetRequiredService<NodeLogLevels>(), options.Log),
            ], logger);
        var served = string.Join(", ", options.Roles.Select(role => options.KindOf(role).Name.ToLowerInvariant()));
        await output.WriteLineAsync(
            $"{NodeProcess.ReadyPrefix}{options.Name} ({served}) at {options.Endpoint}, process "
            + $"{Environment.ProcessId}"
            + string.Concat(options.FrontEnds.Select(own => $", {own.Kind} at {own.Listen}"))
            + (options.Http is { } http ? $", http at {http.Listen}" : ""));
        await output.FlushAsync(CancellationToken.None);
        ServiceManager.Tell("READY=1");
        await host.WaitForShutdownAsync(cancellationToken);
        return 0;
    }

    private static void CheckFrontEnds(NodeOptions options, string configPath, ImmutableArray<IFrontEnd> frontEnds)
    {
        foreach (var asked in options.FrontEnds)
        {
            var known = frontEnds.FirstOrDefault(known => known.Kind == asked.Kind)
                ?? throw new NodeStartException(
                    $"The file {configPath} asks for the front end '{asked.Kind}', which this program does not serve. "
                    + (frontEnds.IsEmpty
                        ? "'corfu node' serves front ends."
                        : $"It serves: {string.Join(", ", frontEnds.Select(own => own.Kind))}."));
            if (asked.Settings is not null && !known.HasSettings)
                throw new NodeStartException(
                    $"The file {configPath} has settings of the front end '{asked.Kind}', which has none.");
        }
    }

    private static IHost Build(
        NodeOptions options, ImmutableArray<IFrontEnd> frontEnds, ImmutableArray<INodeExtension> extensions)
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        AddLog(builder, options.Log);
        builder.Services.Configure<ConsoleLifetimeOptions>(lifetime => lifetime.SuppressStatusMessages = true);
        // A unit finishes its last commit; whatever takes longer than this is stuck.
        builder.Services.Configure<HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromSeconds(20));
        builder.Services.AddSingleton(provider => new CorfuNodeService(
            Options.Create(options), provider.GetRequiredService<ILoggerFactory>(), TimeProvider.System));
        // Before the node: they start before it and end after it.
        foreach (var extension in extensions)
            builder.Services.AddSingleton<IHostedService>(provider => new ExtensionService(
                extension, new NodeSurroundings(options, () => provider.GetRequiredService<CorfuNodeService>().Node,
                    provider.GetRequiredService<ILoggerFactory>(), TimeProvider.System)
                {
                    // Asked by requests, when all services are there.
                    FrontEndFaults = () =>
                    [
                        .. provider.GetServices<IHostedService>().OfType<FrontEndService>()
                            .Select(static running => running.Fault).OfType<string>(),
                    ],
                }));
        builder.Services.AddHostedService(provider => provider.GetRequiredService<CorfuNodeService>());
        // Behind the node: it starts after the node and ends before it.
        foreach (var own in options.FrontEnds)
        {
            var frontEnd = frontEnds.First(known => known.Kind == own.Kind);
            builder.Services.AddSingleton<IHostedService>(provider => new FrontEndService(
                frontEnd, own, options, provider.GetRequiredService<ILoggerFactory>()));
        }

        return builder.Build();
    }

    private static void AddLog(HostApplicationBuilder builder, NodeLogOptions log)
    {
        var levels = new NodeLogLevels(log.Levels);
        builder.Services.AddSingleton(levels);
        builder.Logging.SetMinimumLevel(LogLevel.Trace);
        builder.Logging.AddFilter((category, level) => levels.Allows(category, level));
        if (log.File is { } file)
        {
            builder.Logging.AddNodeLogFile(file, Console.Error.WriteLine, log.IsJson);
            return;
        }

        builder.Logging.AddConsole(console => console.FormatterName =
            log.IsJson ? NodeConsoleJson.FormatterName : NodeConsoleFormatter.FormatterName);
        builder.Services.AddSingleton<ConsoleFormatter, NodeConsoleFormatter>();
        builder.Services.AddSingleton<ConsoleFormatter>(_ => new NodeConsoleJson(TimeProvider.System));
    }

    private sealed class ExtensionService(INodeExtension extension, NodeSurroundings node)
        : IHostedService, IReloadable
    {
        private IAsyncDisposable? _running;

        public async Task StartAsync(CancellationToken cancellationToken) =>
            _running = await extension.StartAsync(node, cancellationToken);

        public ImmutableArray<string> Reload(NodeOptions now) => (_running as IReloadable)?.Reload(now) ?? [];

        public async Task StopAsync(CancellationToken cancellationToken)
        {
            if (Interlocked.Exchange(ref _running, null) is { } running) await running.DisposeAsync();
        }
    }
}
