using System.Net;
using Corfu.Etcd.Hosting;
using Corfu.Server;
using Microsoft.Extensions.Logging;
using Tango;

namespace Corfu.Cli;

/// <summary><c>corfu etcd</c>.</summary>
internal static class EtcdCommand
{
    private const string Description =
        """
        Serve etcd v3, gRPC and JSON at one port, until Ctrl-C. Any number of these processes serve one store of the
        log; clients move between them. Prints the address.
        """;

    private static readonly IPEndPoint s_usual = new(IPAddress.Loopback, 2379);

    public static Command Create()
    {
        var connect = CommonOptions.ConnectOption();
        var listen = CommonOptions.ListenOption(s_usual);
        var service = new Option<string>("--service")
        {
            Description = "Name of the store.",
            HelpName = "NAME",
            DefaultValueFactory = _ => "main",
        };
        var advertise = new Option<string?>("--advertise")
        {
            Description = "Address that clients learn from the member list, as http://10.0.0.1:2379 (default: as it "
                + "listens).",
            HelpName = "URL",
        };
        advertise.Validators.Add(static result =>
        {
            if (result.Tokens is [var token] && !IsAddress(token.Value))
                result.AddError($"'{token.Value}' is no address, as http://10.0.0.1:2379.");
        });
        var certs = ListenTls.CertsOption();
        var insecure = ListenTls.InsecureOption();
        var verbose = new Option<bool>("--verbose") { Description = "More events, on standard error." };
        var command = Commands.New(
            "etcd", Description, [connect, listen, service, advertise, certs, insecure, verbose]);
        command.SetAction(async (result, cancellationToken) =>
        {
            var at = result.GetRequiredValue(listen);
            using var tls = ListenTls.Open(at, result.GetValue(certs), result.GetValue(insecure));
            using var loggers = LoggerFactory.Create(builder => builder
                .AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace)
                .SetMinimumLevel(result.GetValue(verbose) ? LogLevel.Information : LogLevel.Warning));
            await using var client =
                await Connections.ConnectAsync(result.GetRequiredValue(connect), cancellationToken);
            await using var runtime = new TangoRuntime(
                client, EtcdFrontEnd.RuntimeOptions, loggers.CreateLogger<TangoRuntime>());
            var options = new EtcdFrontEndOptions(at)
            {
                Service = result.GetRequiredValue(service),
                Advertise = result.GetValue(advertise),
                Tls = tls,
                Loggers = loggers,
            };
            await using var frontEnd = await StartAsync(client, runtime, options, cancellationToken);
            var output = result.InvocationConfiguration.Output;
            await output.WriteLineAsync(frontEnd.EndPoint.ToString());
            await output.FlushAsync(cancellationToken);
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return ExitCode.Ok;
        });
        return command;
    }

    private static bool IsAddress(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out var url) && url.Scheme is "http" or "https";

    private static async Task<EtcdFrontEnd> StartAsync(CorfuClient client, TangoRuntime runtime,
        EtcdFrontEndOptions options, CancellationToken cancellationToken)
    {
        try
        {
            return await EtcdFrontEnd.StartAsync(client, runtime, options, cancellationToken);
        }
        catch (ListenException e)
        {
            throw new CorfuException(e.Message, e);
        }
    }
}
