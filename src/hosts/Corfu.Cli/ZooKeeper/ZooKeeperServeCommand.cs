using System.Net;
using Corfu.Server;
using Corfu.ZooKeeper.Hosting;
using Microsoft.Extensions.Logging;
using Tango;

namespace Corfu.Cli;

/// <summary><c>corfu zookeeper serve</c>.</summary>
internal static class ZooKeeperServeCommand
{
    private const string Description =
        """
        Serve ZooKeeper's protocol, until Ctrl-C. Any number of these processes serve one tree of the log; a client
        moves between them with its session. Prints the address.
        """;

    private static readonly IPEndPoint s_usual = new(IPAddress.Loopback, 2181);

    public static Command Create()
    {
        var connect = new Option<string>("--connect", "-c")
        {
            Description = "The connection string of the log, as 'cluster up' prints it.",
            HelpName = "corfu://HOST:PORT,...",
            Required = true,
        };
        var listen = ListenOption();
        var service = new Option<string>("--service")
        {
            Description = "Name of the tree.",
            DefaultValueFactory = _ => "main",
        };
        var super = new Option<string?>("--super-digest")
        {
            Description = "The operator, who may do everything: user:digest, as ZooKeeper's superDigest.",
            HelpName = "USER:DIGEST",
        };
        var perAddress = PerAddressOption();
        var insecure = new Option<bool>("--insecure")
        {
            Description = "Plain connections at an address other than loopback: anyone on the network can listen.",
        };
        var verbose = new Option<bool>("--verbose") { Description = "Clients that are closed, on standard error." };
        var command = Commands.New(
            "serve", Description, [connect, listen, service, super, perAddress, insecure, verbose]);
        command.SetAction(async (result, cancellationToken) =>
        {
            var at = result.GetRequiredValue(listen);
            if (!IPAddress.IsLoopback(at.Address) && !result.GetValue(insecure))
                throw new UsageException(
                    $"{at.Address} is no loopback address, and connections are plain: --insecure allows them.");
            using var loggers = LoggerFactory.Create(builder => builder
                .AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace)
                .SetMinimumLevel(result.GetValue(verbose) ? LogLevel.Information : LogLevel.Warning));
            await using var client =
                await Connections.ConnectAsync(result.GetRequiredValue(connect), cancellationToken);
            await using var runtime = new TangoRuntime(
                client, ZooKeeperFrontEnd.RuntimeOptions, loggers.CreateLogger<TangoRuntime>());
            var options = new ZooKeeperFrontEndOptions(at)
            {
                Service = result.GetRequiredValue(service),
                SuperDigest = result.GetValue(super),
                MaxConnectionsPerAddress = result.GetValue(perAddress),
                Loggers = loggers,
            };
            await using var frontEnd = await StartAsync(runtime, options, cancellationToken);
            var output = result.InvocationConfiguration.Output;
            await output.WriteLineAsync(frontEnd.EndPoint.ToString());
            await output.FlushAsync(cancellationToken);
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return ExitCode.Ok;
        });
        return command;
    }

    private static Option<int> PerAddressOption()
    {
        var option = new Option<int>("--connections-per-address")
        {
            Description = "Connections that one address may have, as ZooKeeper's maxClientCnxns; 0: as many.",
            HelpName = "N",
            DefaultValueFactory = _ => 60,
        };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<int>() < 0)
                result.AddError("--connections-per-address cannot be negative.");
        });
        return option;
    }

    private static Option<IPEndPoint> ListenOption() => new("--listen", "-l")
    {
        Description = "Address of this machine to listen at; port 0 takes a free one (default: 127.0.0.1:2181).",
        HelpName = "IP:PORT",
        DefaultValueFactory = _ => s_usual,
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            var numeric = text.Replace("localhost", "127.0.0.1", StringComparison.Ordinal);
            if (numeric.Contains(':', StringComparison.Ordinal) && IPEndPoint.TryParse(numeric, out var at)) return at;
            result.AddError($"'{text}' is no address and port, as 127.0.0.1:2181.");
            return null;
        },
    };

    private static async Task<ZooKeeperFrontEnd> StartAsync(
        TangoRuntime runtime, ZooKeeperFrontEndOptions options, CancellationToken cancellationToken)
    {
        try
        {
            return await ZooKeeperFrontEnd.StartAsync(runtime, options, cancellationToken: cancellationToken);
        }
        catch (ListenException e)
        {
            throw new CorfuException(e.Message, e);
        }
    }
}
