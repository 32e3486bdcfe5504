using System.CommandLine;
using System.Net;
using Corfu.Client;
using NamenodeSample.Hdfs;
using NamenodeSample.Journaling;
using NamenodeSample.Tree;
using Tango;

namespace NamenodeSample.Serving;

/// <summary>A namenode that serves Hadoop's clients: see <see cref="NamenodeCalls"/>.</summary>
internal static class ServeMode
{
    private const string Description =
        "Serves the namespace to clients of HDFS, until Ctrl-C. Of several on one log, one is the active.";

    private static readonly IPEndPoint s_usual = new(IPAddress.Loopback, 0);

    /// <param name="lease">Milliseconds.</param>
    public static Command CreateCommand(Option<int> lease)
    {
        var connect = new Option<string>("--connect")
        {
            Description = "The log: corfu://host:port,...",
            HelpName = "URL",
            Required = true,
        };
        connect.Validators.Add(result =>
        {
            if (result.GetValue(connect) is { } url && !ConnectionString.TryParse(url, out _, out string? fault))
                result.AddError($"--connect: {fault}");
        });
        var listen = new Option<string>("--listen")
        {
            Description = "Address and port of Hadoop RPC. Default: a free port of 127.0.0.1.",
            HelpName = "ADDRESS:PORT",
            DefaultValueFactory = static _ => $"{s_usual}",
        };
        listen.Validators.Add(result =>
        {
            if (!IsAddressAndPort(result.GetValue(listen)!))
                result.AddError("--listen must be an address and a port.");
        });
        var command = new Command("serve", Description) { connect, listen, lease };
        command.SetAction((parse, stop) => RunAsync(parse.GetRequiredValue(connect),
            IPEndPoint.Parse(parse.GetRequiredValue(listen)),
            TimeSpan.FromMilliseconds(parse.GetValue(lease)), stop));
        return command;
    }

    // IPEndPoint alone takes an address without a port, and a port without an address.
    private static bool IsAddressAndPort(string text) => IPEndPoint.TryParse(text, out IPEndPoint? address)
        && (text == $"{address}" || text.Contains("]:", StringComparison.Ordinal));

    /// <returns>1: another namenode has taken over.</returns>
    /// <exception cref="JournalException">The lease is lost, and no other has taken over yet.</exception>
    private static async Task<int> RunAsync(
        string connection, IPEndPoint address, TimeSpan lease, CancellationToken cancellationToken)
    {
        await using Journal journal = await Journal.OpenAsync(connection, cancellationToken);
        var namenode = new Namenode();
        await using HdfsListener listener = await HdfsListener.StartAsync(
            address, new NamenodeCalls(() => namenode.Active, TimeProvider.System), Console.Error, cancellationToken);
        await Console.Out.WriteLineAsync($"hdfs://{listener.Address}");
        try
        {
            await namenode.ServeAsync(journal, listener.Address, lease, cancellationToken);
        }
        catch (TangoLeaseLostException e)
        {
            await Console.Error.WriteLineAsync($"error: another namenode is the active: {e.Message}");
        }

        return SampleCommand.Wrong;
    }
}
