using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Text;
using Corfu.ZooKeeper.Client;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Import;

/// <summary>Nodes of a running ZooKeeper.</summary>
internal sealed class SourceTree(ZooClient client) : IAsyncDisposable
{
    // Nodes that are asked for at once.
    private const int Window = 64;

    // A node that is deleted and made anew again and again.
    private const int MostTries = 8;

    /// <exception cref="ZooClientException">No server answers there, or it refuses a credential.</exception>
    public static async Task<SourceTree> ConnectAsync(ImportOptions options, CancellationToken cancellationToken)
    {
        ZooClient client;
        try
        {
            client = await ZooClient.ConnectAsync(options.Host, options.Port, tls: options.Tls,
                cancellationToken: cancellationToken).ConfigureAwait(false);
        }
        catch (SocketException e)
        {
            throw new ZooClientException($"No ZooKeeper answers at {options.Host}:{options.Port}: {e.Message}", e);
        }

        var source = new SourceTree(client);
        try
        {
            await source.ProveAsync(options.Auth, cancellationToken).ConfigureAwait(false);
            // The server may be behind others of its ensemble.
            await source.AskAsync(new NodeRequest(OpCode.Sync, NodePath.Root), cancellationToken)
                .ConfigureAwait(false);
            return source;
        }
        catch
        {
            await source.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>All nodes at and below a path, parents before their children.</summary>
    public async IAsyncEnumerable<SourceNode> WalkAsync(
        string path, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var open = new Queue<string>([path]);
        var reading = new Queue<Task<SourceNode?>>();
        while (true)
        {
            while (reading.Count < Window && open.TryDequeue(out var next))
                reading.Enqueue(ReadAsync(next, cancellationToken));
            if (!reading.TryDequeue(out var first)) yield break;
            if (await first.ConfigureAwait(false) is not { } node) continue;
            yield return node;
            var above = node.Path == NodePath.Root ? "" : node.Path;
            foreach (var name in node.Children) open.Enqueue($"{above}/{name}");
        }
    }

    /// <returns>Null: there is no such node.</returns>
    public async Task<SourceNode?> ReadAsync(string path, CancellationToken cancellationToken)
    {
        for (var tries = 0; tries < MostTries; tries++)
        {
            var data = client.SendAsync(new NodeRequest(OpCode.GetData, path), cancellationToken);
            var acl = client.SendAsync(new NodeRequest(OpCode.GetAcl, path), cancellationToken);
            var children = client.SendAsync(new NodeRequest(OpCode.GetChildren2, path), cancellationToken);
            var replies = await Task.WhenAll(data, acl, children).ConfigureAwait(false);
            var errors = replies.Select(static reply => reply.Error).Where(static error => error != ErrorCode.Ok);
            switch (errors.FirstOrDefault())
            {
                case ErrorCode.Ok:
                    // Each field is of its own reply; all three must be of one node.
                    if (replies.DistinctBy(static reply => reply.Stat!.Value.Czxid).Count() > 1) continue;
                    return NodeOf(path, replies[0], replies[1], replies[2]);
                case ErrorCode.NoNode:
                    return null;
                case ErrorCode.NoAuth:
                    return SourceNode.Unread(path, "this program may not read it; --auth says who it is");
                case var error:
                    return SourceNode.Unread(path, $"the server answers {error} ({(int)error})");
            }
        }

        return SourceNode.Unread(path, "it was deleted and made anew again and again");
    }

    /// <summary>Closes the session.</summary>
    public async ValueTask DisposeAsync()
    {
        try
        {
            await client.SendAsync(new WriteRequest(OpCode.CloseSession, new CloseSessionOp())).ConfigureAwait(false);
        }
        catch (ZooClientException)
        {
            // The server ends it after its time-out.
        }

        await client.DisposeAsync().ConfigureAwait(false);
    }

    private static SourceNode NodeOf(string path, ServerReply data, ServerReply acl, ServerReply children)
    {
        var (stat, below) = (data.Stat!.Value, children.Stat!.Value);
        if (stat.EphemeralOwner != 0) return SourceNode.Ephemeral(path);
        var entries = acl.Acl.IsDefaultOrEmpty ? AclList.Open.Entries : acl.Acl;
        if (entries.Any(static entry => entry.Scheme == "digest" && entry.Id!.EndsWith(":x", StringComparison.Ordinal)))
        {
            return SourceNode.Unread(path, "the server shows the digests of its list to an administrator only; --auth "
                + "says who this program is") with
            { Children = children.Names };
        }

        return new SourceNode(path, new ImportedNode(
            path, data.Data, entries, stat.Ctime, stat.Mtime, stat.Version, below.Creates,
            acl.Stat!.Value.Aversion), null, children.Names);
    }

    private async Task ProveAsync(
        ImmutableArray<KeyValuePair<string, string>> auth, CancellationToken cancellationToken)
    {
        foreach (var (scheme, credential) in auth)
        {
            var reply = await client.SendAsync(
                new AuthRequest(scheme, [.. Encoding.UTF8.GetBytes(credential)]), cancellationToken)
                .ConfigureAwait(false);
            if (reply.Error != ErrorCode.Ok)
                throw new ZooClientException($"The server refuses the credential of the scheme '{scheme}'.");
        }
    }

    private async Task AskAsync(ClientRequest request, CancellationToken cancellationToken)
    {
        var reply = await client.SendAsync(request, cancellationToken).ConfigureAwait(false);
        if (reply.Error != ErrorCode.Ok)
            throw new ZooClientException($"The server answers {reply.Error} to {request.Code}.");
    }
}
