using System.Text.Json;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Cli;

/// <summary><c>corfu zookeeper get|ls|dump</c>: a tree read from the log, without a front end.</summary>
internal static class ZooKeeperReadCommands
{
    private const string GetDescription =
        """
        Write the data of one node to standard output, exactly its bytes; with --json all that the tree knows of the
        node. Reads the log, as an operator: lists of access control are not looked at. With --at the tree is shown as
        it was.
        """;

    private const string LsDescription =
        """
        List the children of a node, one a line; with --json an object for each. Reads the log, as an operator: lists
        of access control are not looked at. With --at the tree is shown as it was.
        """;

    private const string DumpDescription =
        """
        List all nodes at and below a path, parents first, one a line; with --json an object for each, the data in
        base64. Digests of access control are shown as they are. With --at the tree is shown as it was: two dumps
        differ by what changed between.
        """;

    public static Command Get()
    {
        var path = new Argument<string>("path") { Description = "The node's path." };
        return New("get", GetDescription, path, async (read, result, isJson, cancellationToken) =>
        {
            if (isJson)
            {
                await WriteAsync(result, read.Node, read.Tree.At);
                return;
            }

            await using var output = Console.OpenStandardOutput();
            await output.WriteAsync(read.Node.Data ?? default, cancellationToken);
        });
    }

    public static Command Ls() => New("ls", LsDescription, FolderArgument(), async (read, result, isJson, stop) =>
    {
        var above = read.Node.Path == NodePath.Root ? "" : read.Node.Path;
        foreach (var name in read.Node.ChildNames().Order(StringComparer.Ordinal))
        {
            if (isJson) await WriteAsync(result, (await read.Tree.FindAsync($"{above}/{name}", stop))!, read.Tree.At);
            else await result.InvocationConfiguration.Output.WriteLineAsync(Printable.Of(name));
        }
    });

    public static Command Dump() => New("dump", DumpDescription, FolderArgument(), async (read, result, isJson, stop) =>
    {
        var at = read.Tree.At;
        foreach (var node in await read.Tree.SubtreeAsync(read.Node.Path, stop))
        {
            if (isJson) await WriteAsync(result, node, at);
            else await result.InvocationConfiguration.Output.WriteLineAsync(ZNodeJson.Of(node, at).ToLine());
        }
    });

    private static Argument<string> FolderArgument() => new("path")
    {
        Description = "The node's path.",
        DefaultValueFactory = _ => NodePath.Root,
    };

    private static Task WriteAsync(ParseResult result, ZNode node, LogPosition at) =>
        result.InvocationConfiguration.Output.WriteLineAsync(
            JsonSerializer.Serialize(ZNodeJson.Of(node, at), ZooKeeperCliJson.Lines.ZNodeJson));

    private static Command New(string name, string description, Argument<string> path,
        Func<TreeRead, ParseResult, bool, CancellationToken, Task> write)
    {
        path.Validators.Add(result =>
        {
            if (result.GetValueOrDefault<string>() is { } text && !NodePath.IsValid(text))
                result.AddError($"'{text}' is no path of a node, as /a/b.");
        });
        var (at, service) = (TreeMoment.NewOption(), ZooKeeperCommand.ServiceOption());
        var json = CommonOptions.JsonOption();
        return TangoCommand.WithRuntime(name, description, [path, at, service, json],
            async (client, runtime, result, cancellationToken) =>
            {
                var tree = await result.GetValue(at).OpenAsync(
                    client, runtime, result.GetRequiredValue(service), cancellationToken);
                var wanted = result.GetRequiredValue(path);
                if (await tree.FindAsync(wanted, cancellationToken) is { } node)
                {
                    await write(
                        new TreeRead(tree, node), result, result.GetValue(json), cancellationToken);
                    return ExitCode.Ok;
                }

                await result.InvocationConfiguration.Error.WriteLineAsync(
                    $"There is no node '{Printable.Of(wanted)}' at position {tree.At.Offset}.");
                return ExitCode.NoData;
            });
    }

    private sealed record TreeRead(PastTree Tree, ZNode Node);
}
