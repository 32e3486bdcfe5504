using System.Net;
using Corfu.Server;
using Microsoft.Extensions.Logging;
using Salus;
using Salus.Hosting;

namespace Corfu.Cli;

/// <summary><c>corfu volume serve</c>.</summary>
internal static class VolumeServeCommand
{
    private const string Description =
        """
        Serve volumes over NBD to qemu, nbd-client, nbdcopy and others, until Ctrl-C. Prints an address for each;
        VOL@NAME is the snapshot NAME, read-only. A volume has one writer: it is mounted when its first client comes,
        and free for another process 10 s after the last one has gone. Ctrl-C ends cleanly: what was acknowledged is
        durable.
        """;

    private static readonly IPEndPoint s_usual = new(IPAddress.Loopback, 10809);

    public static Command Create()
    {
        var connect = SalusConnections.LogOption();
        var volumes = new Argument<string[]>("volumes")
        { Description = "The volumes, and snapshots as VOL@NAME.", Arity = ArgumentArity.OneOrMore };
        var listen = CommonOptions.ListenOption(s_usual);
        var ack = new Option<Acknowledgement>("--ack")
        {
            Description = "committed: a write is answered when all its copies are on disk. ordered: when it has its "
                + "place; a crash may lose the newest writes, never one in the middle, and flushes wait for the disk.",
        };
        var certs = new Option<DirectoryInfo?>("--certs")
        {
            Description = "The folder of a certificate ('corfu cert issue --role node'): clients need TLS, and a "
                + "certificate of the same authority.",
            HelpName = "DIR",
        };
        var insecure = new Option<bool>("--insecure")
        {
            Description = "Plain connections at an address other than loopback: anyone on the network can read and "
                + "write the volumes.",
        };
        var verbose = new Option<bool>("--verbose")
        { Description = "Clients that come and go, and mounts, on standard error. Warnings are there in any case." };
        var command = Commands.New("serve", Description, [connect, volumes, listen, ack, certs, insecure, verbose]);
        command.SetAction(async (result, cancellationToken) =>
        {
            using var loggers = LoggerFactory.Create(builder => builder
                .AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace)
                .SetMinimumLevel(result.GetValue(verbose) ? LogLevel.Information : LogLevel.Warning));
            using var tls = result.GetValue(certs) is { } folder
                ? ClusterTls.Open(new TlsOptions { Folder = folder.FullName })
                : null;
            var options = new VolumeServerOptions(Connections.Parse(result.GetRequiredValue(connect)).ToString(),
                [.. result.GetRequiredValue(volumes)], result.GetRequiredValue(listen))
            {
                Client = SalusClientOptions.Default with
                {
                    Acknowledgement = result.GetValue(ack),
                    Owner = $"{Environment.MachineName}, process {Environment.ProcessId}",
                },
                Tls = tls,
                Insecure = result.GetValue(insecure),
                Loggers = loggers,
            };
            if (options.Faults().ToList() is { Count: > 0 } faults)
                throw new UsageException(string.Join(Environment.NewLine, faults));
            await using var server = await StartAsync(options, cancellationToken);
            CommandDeadline.Connected();
            var output = result.InvocationConfiguration.Output;
            var scheme = tls is null ? "nbd" : "nbds";
            foreach (var name in options.Volumes)
                await output.WriteLineAsync($"{scheme}://{server.EndPoint}/{Uri.EscapeDataString(name)}");
            await output.FlushAsync(cancellationToken);
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return ExitCode.Ok;
        });
        return command;
    }

    private static async Task<VolumeServer> StartAsync(
        VolumeServerOptions options, CancellationToken cancellationToken)
    {
        try
        {
            return await VolumeServer.StartAsync(options, cancellationToken);
        }
        catch (ListenException e)
        {
            throw new CorfuException(e.Message, e);
        }
    }
}
