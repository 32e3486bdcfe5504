using System.Net;
using Corfu.Server;
using Corfu.ZooKeeper.Hosting;
using Microsoft.Extensions.Logging;
using Tango;
using Tango.ZooKeeper;

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
        var connect = CommonOptions.ConnectOption();
        var listen = CommonOptions.ListenOption(s_usual);
        var service = ZooKeeperCommand.ServiceOption();
        var super = SuperOption();
        var reads = ReadsOption();
        var readOnly = ReadOnlyOption();
        var host = HostOption();
        var perAddress = PerAddressOption();
        var certs = ListenTls.CertsOption();
        var insecure = ListenTls.InsecureOption();
        var verbose = new Option<bool>("--verbose") { Description = "Clients that are closed, on standard error." };
        var command = Commands.New("serve", Description,
            [connect, listen, service, super, reads, readOnly, host, perAddress, certs, insecure, verbose]);
        command.SetAction(async (result, cancellationToken) =>
        {
            var at = result.GetRequiredValue(listen);
            if (result.GetValue(readOnly) && result.GetValue(reads) == ZooKeeperReads.Linearizable)
                throw new UsageException("--read-only and --reads linearizable exclude each other.");
            using var tls = ListenTls.Open(at, result.GetValue(certs), result.GetValue(insecure));
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
                Tls = tls,
                SuperDigest = result.GetValue(super),
                Reads = result.GetValue(reads),
                ReadOnly = result.GetValue(readOnly),
                Host = result.GetValue(host) is { } mounts ? [.. mounts] : default,
                Limits = new ZooKeeperLimits { MaxConnectionsPerAddress = result.GetValue(perAddress) },
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

    private static Option<ZooKeeperReads> ReadsOption() => new("--reads")
    {
        Description = "'session': a read shows what its client has written and seen; 'linearizable': all that any "
            + "client was answered before, at the price of waiting for the log.",
        HelpName = "session|linearizable",
    };

    private static Option<bool> ReadOnlyOption() => new("--read-only")
    {
        Description = "While the log does not answer, serve reads of the newest state that is known to clients that "
            + "allow it, as ZooKeeper's readonlymode.enabled.",
    };

    private static Option<string?> SuperOption() => new("--super-digest")
    {
        Description = "The operator, who may do everything: user:digest, as ZooKeeper's superDigest.",
        HelpName = "USER:DIGEST",
    };

    private static Option<string[]?> HostOption()
    {
        var option = new Option<string[]?>("--host")
        {
            Description = "Partitions to play from the start ('corfu zookeeper mount'); others are once a client asks "
                + "for them. By default all.",
            HelpName = "/A,/B",
            CustomParser = static result => result.Tokens[0].Value.Split(','),
        };
        option.Validators.Add(static result =>
        {
            foreach (var path in result.Tokens.SelectMany(static token => token.Value.Split(',')))
            {
                if (!NodePath.IsValid(path)) result.AddError($"'{path}' is no path of a partition, as /a.");
            }
        });
        return option;
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
