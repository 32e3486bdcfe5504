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
        RunAsync(configPath, output, null, cancellationToken);

    /// <summary>As above, for a process that can serve gRPC as well.</summary>
    /// <param name="frontEnd">Serves where the configuration says <c>grpc</c>.</param>
    /// <exception cref="NodeStartException">The node cannot start.</exception>
    public static async Task<int> RunAsync(
        string configPath, TextWriter output, StartFrontEnd? frontEnd, CancellationToken cancellationToken)
    {
        var options = NodeConfig.Load(configPath, out var log);
        using var folderLock = FolderLock.Take(Path.GetDirectoryName(Path.GetFullPath(configPath))!, FolderUse.Node);
        options.AgentFile = Path.Combine(Path.GetDirectoryName(Path.GetFullPath(configPath))!, AgentFileName);
        if (options.GrpcListen is not null && frontEnd is null)
            throw new NodeStartException(
                $"The file {configPath} asks for gRPC, which this program does not serve; 'corfu node' does.");
        using var host = Build(options, log, frontEnd);
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

        var roles = string.Join(", ", options.Roles.Select(role => role.Role.ToString().ToLowerInvariant()));
        await output.WriteLineAsync(
            $"{NodeProcess.ReadyPrefix}{options.Name} ({roles}) at {options.Endpoint}, process "
            + $"{Environment.ProcessId}{(options.GrpcListen is { } grpc ? $", gRPC at {grpc}" : "")}");
        await output.FlushAsync(CancellationToken.None);
        await host.WaitForShutdownAsync(cancellationToken);
        return 0;
    }

    private static IHost Build(NodeOptions options, string? log, StartFrontEnd? frontEnd)
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Logging.SetMinimumLevel(LogLevel.Information);
        if (log is not null)
        {
            builder.Logging.AddNodeLogFile(log, Console.Error.WriteLine);
        }
        else
        {
            builder.Logging.AddConsole(console => console.FormatterName = NodeConsoleFormatter.FormatterName);
            builder.Services.AddSingleton<ConsoleFormatter, NodeConsoleFormatter>();
        }

        builder.Services.Configure<ConsoleLifetimeOptions>(lifetime => lifetime.SuppressStatusMessages = true);
        // A unit finishes its last commit; whatever takes longer than this is stuck.
        builder.Services.Configure<HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromSeconds(20));
        builder.Services.AddHostedService(provider => new CorfuNodeService(
            Options.Create(options), provider.GetRequiredService<ILoggerFactory>(), TimeProvider.System));
        // Behind the node: it starts after the node and ends before it.
        if (options.GrpcListen is not null)
            builder.Services.AddHostedService(provider => new FrontEndService(
                frontEnd!, options, provider.GetRequiredService<ILoggerFactory>()));
        return builder.Build();
    }
}
