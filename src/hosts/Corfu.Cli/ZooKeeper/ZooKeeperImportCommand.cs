using System.Diagnostics;
using Corfu.ZooKeeper.Import;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Cli;

/// <summary><c>corfu zookeeper import</c>.</summary>
internal static class ZooKeeperImportCommand
{
    private const string Description =
        """
        Copy the nodes of a running ZooKeeper into a tree, over ZooKeeper's protocol: data, access control, times and
        versions. What differs is written, so that the same command goes on after an interruption, and follows a
        ZooKeeper that is in use. Nodes that the tree has alone stay, unless --delete is given. Ephemeral nodes are
        left out; containers and nodes with a time to live become persistent, since clients cannot see which they are;
        zxids are the log's. Put a credential into a file and give '@FILE' to keep it from other users' eyes.

        Exit code 1 if a node could not be copied or, with --verify, differs. The lines on standard output name each.
        """;

    public static Command Create()
    {
        var from = FromOption();
        var path = PathOption();
        var auth = AuthOption();
        var service = ZooKeeperCommand.ServiceOption();
        var verify = new Option<bool>("--verify")
        { Description = "Compare all nodes afterwards, and name each that differs." };
        var delete = new Option<bool>("--delete")
        { Description = "Delete nodes of the tree that the ZooKeeper does not have." };
        var tls = new ImportTls();
        return TangoCommand.WithRuntime("import", Description, [from, .. tls.All, path, auth, verify, delete, service],
            async (_, runtime, result, cancellationToken) =>
            {
                var (host, port) = result.GetRequiredValue(from);
                var options = new ImportOptions(host, port)
                {
                    Service = result.GetRequiredValue(service),
                    Path = result.GetRequiredValue(path),
                    Auth = [.. result.GetValue(auth) ?? []],
                    Tls = tls.Read(result, host),
                    Delete = result.GetValue(delete),
                };
                await using var import = await ZooKeeperImport.OpenAsync(runtime, options, cancellationToken);
                var lines = new Lines(result.InvocationConfiguration.Error);
                var report = await CopyAsync(import, lines, cancellationToken);
                var output = result.InvocationConfiguration.Output;
                foreach (var fault in report.Left)
                    await output.WriteLineAsync(Printable.Of($"{fault.Path}  not copied: {fault.Reason}"));
                await output.WriteLineAsync(
                    $"read {report.Read} nodes, wrote {report.Written}, deleted {report.Deleted}, left out "
                    + $"{report.Ephemerals} ephemeral, could not copy {report.Left.Length}");
                var differing = result.GetValue(verify) ? await VerifyAsync(import, output, cancellationToken) : 0;
                return report.Left.IsEmpty && differing == 0 ? ExitCode.Ok : ExitCode.Failed;
            });
    }

    private static async Task<ImportReport> CopyAsync(
        ZooKeeperImport import, Lines lines, CancellationToken cancellationToken)
    {
        try
        {
            return await import.CopyAsync(lines.Report, cancellationToken);
        }
        catch (OperationCanceledException)
        {
            await lines.Error.WriteLineAsync(
                $"interrupted: {lines.Last.Written} nodes are written; the same command goes on");
            throw;
        }
    }

    private static async Task<long> VerifyAsync(
        ZooKeeperImport import, TextWriter output, CancellationToken cancellationToken)
    {
        var differing = 0L;
        await foreach (var found in import.FindDifferencesAsync(cancellationToken))
        {
            differing++;
            await output.WriteLineAsync(
                Printable.Of($"{found.Path}  {found.Field}: {found.There} there, {found.Here} here"));
        }

        await output.WriteLineAsync($"verified: {differing} nodes differ");
        return differing;
    }

    private static Option<(string Host, int Port)> FromOption() => new("--from")
    {
        Description = "A server of the ZooKeeper.",
        HelpName = "HOST:PORT",
        Required = true,
        CustomParser = result =>
        {
            var text = result.Tokens[0].Value;
            if (NodeEndpoint.TryParse(text, out var endpoint)) return (endpoint.Host, endpoint.Port);
            result.AddError($"'{text}' is no host and port, as 127.0.0.1:2181.");
            return default;
        },
    };

    private static Option<string> PathOption()
    {
        var option = new Option<string>("--path")
        {
            Description = "Copy this node and all below.",
            HelpName = "PATH",
            DefaultValueFactory = _ => NodePath.Root,
        };
        option.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string>() is { } text && !NodePath.IsValid(text))
                result.AddError($"'{text}' is no path of a node, as /a/b.");
        });
        return option;
    }

    private static Option<KeyValuePair<string, string>[]> AuthOption() => new("--auth")
    {
        Description = "Who the ZooKeeper takes this program for, as zkCli's addauth: digest:USER:PASSWORD. Digests of "
            + "lists are shown to their administrators only.",
        HelpName = "SCHEME:CREDENTIAL",
        CustomParser = result =>
        {
            foreach (var token in result.Tokens)
            {
                if (token.Value.IndexOf(':', StringComparison.Ordinal) < 1)
                    result.AddError("--auth is a scheme and a credential, as digest:USER:PASSWORD.");
            }

            return
            [
                .. from token in result.Tokens
                   let colon = token.Value.IndexOf(':', StringComparison.Ordinal)
                   where colon > 0
                   select KeyValuePair.Create(token.Value[..colon], token.Value[(colon + 1)..]),
            ];
        },
    };

    /// <summary>A line a second at most.</summary>
    private sealed class Lines(TextWriter error)
    {
        private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(1);

        private long _reported = Stopwatch.GetTimestamp();

        public TextWriter Error => error;

        public ImportProgress Last { get; private set; }

        public void Report(ImportProgress progress)
        {
            Last = progress;
            if (Stopwatch.GetElapsedTime(_reported) < s_interval) return;
            _reported = Stopwatch.GetTimestamp();
            error.WriteLine($"read {progress.Read} nodes, wrote {progress.Written}");
        }
    }
}
