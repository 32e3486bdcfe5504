namespace Corfu.Hosting;

/// <summary>A role in this process, with the folder it works in.</summary>
internal sealed class NodeRoleHost(INodeRole kind, NodeRoleOptions options, RunningRole role, RoleFolder? folder = null,
    Epoch named = default) : IAsyncDisposable
{
    private const string DataName = "data";

    public INodeRole Kind => kind;

    public NodeRoleOptions Options => options;

    public IRoleHandler Handler => role.Handler;

    /// <summary>Why the role serves nothing any more until the process is restarted, or null.</summary>
    public string? Fault =>
        role.Fault is { IsCompletedSuccessfully: true } fault
            ? $"The {kind.Name} {Handler.Id} has failed: {fault.Result.Message}"
            : null;

    /// <summary>Why the role serves nothing, however often the process is restarted, or null.</summary>
    public string? Stopped =>
        Handler is StoppedRole stopped ? $"The {kind.Name} {Handler.Id} does not serve: {stopped.Reason}" : null;

    /// <summary>Why the role will soon not do all that it is for, or does not now, though it serves; null while all is
    /// well.</summary>
    public string? Warning =>
        role.Warning?.Invoke() is { Length: > 0 } why ? $"The {kind.Name} {Handler.Id}: {why}" : null;

    /// <summary>Completes, with the reason, when the role has failed; never for a role that cannot.</summary>
    public Task<Exception> Failure => role.Fault ?? new TaskCompletionSource<Exception>().Task;

    /// <summary>An epoch whose decided projection named the role; none if that is not known.</summary>
    public Epoch Named => folder?.Named ?? named;

    public void MarkNamed(Epoch epoch) => folder?.MarkNamed(epoch);

    /// <summary>A role whose data is damaged or lost does not stop its node: it is there and says so, and never serves
    /// again under its identity (R2, R6, R12).</summary>
    /// <exception cref="NodeStartException">The folder is in use, another cluster's, or not usable.</exception>
    public static async Task<NodeRoleHost> OpenAsync(
        NodeOptions node, NodeRoleOptions role, RoleSurroundings surroundings)
    {
        var kind = node.KindOf(role);
        var cluster = new ClusterId(node.Cluster);
        if (!kind.HasFolder)
        {
            var start = surroundings.Start(node, role, "", NodeId.None, isNew: true);
            return new NodeRoleHost(kind, role, await kind.OpenAsync(start));
        }

        role.Id = new RoleReformat(new ReformatFiles(node, role), role.Folder!,
            SystemEntropy.Instance.NewGuid).Resume(role.Id);
        if (node.FormatNewFolders && !RoleFolder.IsFormatted(role.Folder!))
            RoleFolder.Format(role.Folder!, cluster, kind.Name,
                new NodeId(role.Id == Guid.Empty ? SystemEntropy.Instance.NewGuid() : role.Id));
        var folder = RoleFolder.Open(role.Folder!, cluster, kind.Name, new NodeId(role.Id));
        try
        {
            // R12: what was in use and is empty now has been lost; starting empty would break what it has promised.
            var data = Path.Combine(folder.Path, DataName);
            if (folder.WasOpened && (!Directory.Exists(data) || !Directory.EnumerateFileSystemEntries(data).Any()))
                return Damaged(kind, role, folder, "its data is gone");
            var start = surroundings.Start(node, role, data, folder.Id, !folder.WasOpened);
            var host = await RequireAsync(new NodeRoleHost(kind, role, await kind.OpenAsync(start), folder), folder);
            folder.MarkOpened();
            return host;
        }
        catch (Exception e) when (folder.WasOpened && IsDamage(e))
        {
            return Damaged(kind, role, folder, e.Message);
        }
        catch (Exception e)
        {
            folder.Dispose();
            if (e is NodeStartException or not (CorfuException or IOException or UnauthorizedAccessException)) throw;
            throw new NodeStartException($"{folder.Path}: {e.Message}", e);
        }
    }

    /// <summary>The role with its folder closed: what removed it is decided, and its data is never served
    /// again.</summary>
    public static NodeRoleHost Removed(NodeRoleHost host, string reason) =>
        new(host.Kind, host.Options, Silent(host.Kind, host.Handler.Id, reason), named: host.Named);

    public async ValueTask DisposeAsync()
    {
        if (role.Owner is { } owner) await owner.DisposeAsync();
        folder?.Dispose();
    }

    private static NodeRoleHost Damaged(INodeRole kind, NodeRoleOptions role, RoleFolder folder, string why) =>
        new(kind, role, Silent(kind, folder.Id, $"damaged: {why}"), folder);

    private static RunningRole Silent(INodeRole kind, NodeId id, string reason) =>
        new(new StoppedRole(kind.Role, id, reason));

    // A folder in use or not writable can be mended, and then the role serves. Records that a log lacks do not come
    // back.
    private static bool IsDamage(Exception e) => e
        is not (NodeStartException or OperationCanceledException or IOException or UnauthorizedAccessException);

    // R2: what another identity stored must never be served under this one.
    private static async Task<NodeRoleHost> RequireAsync(NodeRoleHost host, RoleFolder folder)
    {
        if (host.Handler.Id == folder.Id) return host;
        await host.DisposeAsync();
        throw new NodeStartException($"The folder {folder.Path} holds the data of {host.Handler.Id}, not {folder.Id}.");
    }
}

/// <summary>The parts of a process that each of its roles is given.</summary>
internal sealed record RoleSurroundings(
    ClusterTls? Tls, IRoleHandlers Handlers, ILoggerFactory Loggers, TimeProvider Time)
{
    public RoleStart Start(NodeOptions node, NodeRoleOptions role, string folder, NodeId id, bool isNew) =>
        new(folder, new ClusterId(node.Cluster), id, isNew, node.Limits)
        {
            Endpoint = node.Endpoint,
            Connection = node.ConnectionWith(Tls),
            Tls = Tls,
            Insecure = node.Insecure,
            Settings = role.Settings,
            Beside = Handlers,
            Loggers = Loggers,
            Time = Time,
        };
}
