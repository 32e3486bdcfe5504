using Corfu.Layout;
using Corfu.Sequencer;
using Corfu.Unit;

namespace Corfu.Hosting;

/// <summary>A role in this process, with the folder it works in.</summary>
internal sealed class NodeRoleHost(NodeRoleOptions options, IRoleHandler handler, IAsyncDisposable? owner = null,
    RoleFolder? folder = null, Task<Exception>? fault = null, Epoch named = default) : IAsyncDisposable
{
    private const string DataName = "data";

    public NodeRoleOptions Options => options;

    public IRoleHandler Handler => handler;

    /// <summary>Why the role serves nothing any more until the process is restarted, or null.</summary>
    public string? Fault =>
        fault is { IsCompletedSuccessfully: true }
            ? $"The {Handler.Role} {Handler.Id} has failed: {fault.Result.Message}"
            : null;

    /// <summary>Why the role serves nothing, however often the process is restarted, or null.</summary>
    public string? Stopped =>
        Handler is StoppedRole stopped ? $"The {Handler.Role} {Handler.Id} does not serve: {stopped.Reason}" : null;

    /// <summary>Why the role will soon not do all that it is for, or does not now, though it serves; null while all is
    /// well.</summary>
    public string? Warning =>
        Handler is UnitHandler { Shortage: { Length: > 0 } why } ? $"The {Handler.Role} {Handler.Id}: {why}" : null;

    /// <summary>Completes, with the reason, when the role has failed; never for a role that cannot.</summary>
    public Task<Exception> Failure => fault ?? new TaskCompletionSource<Exception>().Task;

    /// <summary>An epoch whose decided projection named the role; none if that is not known.</summary>
    public Epoch Named => folder?.Named ?? named;

    public void MarkNamed(Epoch epoch) => folder?.MarkNamed(epoch);

    /// <summary>A unit or an acceptor whose data is damaged or lost does not stop its node: it is there and says so,
    /// and never serves again under its identity (R2, R6, R12).</summary>
    /// <exception cref="NodeStartException">The folder is in use, another cluster's, or not usable.</exception>
    public static async Task<NodeRoleHost> OpenAsync(NodeOptions node, NodeRoleOptions role)
    {
        // R2, R7: an incarnation of its own with every start.
        if (role.Role == NodeRole.Sequencer)
            return new NodeRoleHost(role, new SequencerHandler(SystemEntropy.Instance, node.Limits.Sequencer));
        var cluster = new ClusterId(node.Cluster);
        role.Id = new RoleReformat(new ReformatFiles(node, role), role.Folder!,
            SystemEntropy.Instance.NewGuid).Resume(role.Id);
        if (node.FormatNewFolders && !RoleFolder.IsFormatted(role.Folder!))
            RoleFolder.Format(role.Folder!, cluster, role.Role,
                new NodeId(role.Id == Guid.Empty ? SystemEntropy.Instance.NewGuid() : role.Id));
        var folder = RoleFolder.Open(role.Folder!, cluster, role.Role, new NodeId(role.Id));
        try
        {
            // R12: what was in use and is empty now has been lost; starting empty would break what it has promised.
            var data = Path.Combine(folder.Path, DataName);
            if (folder.WasOpened && (!Directory.Exists(data) || !Directory.EnumerateFileSystemEntries(data).Any()))
                return Damaged(role, folder, "its data is gone");
            var host = role.Role == NodeRole.Unit
                ? await OpenUnitAsync(node.Limits, role, folder, data, cluster)
                : await OpenAcceptorAsync(node.Limits, role, folder, data, cluster);
            folder.MarkOpened();
            return host;
        }
        catch (Exception e) when (folder.WasOpened && IsDamage(e))
        {
            return Damaged(role, folder, e.Message);
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
        new(host.Options, new StoppedRole(host.Handler.Role, host.Handler.Id, reason), named: host.Named);

    public async ValueTask DisposeAsync()
    {
        if (owner is not null) await owner.DisposeAsync();
        folder?.Dispose();
    }

    private static NodeRoleHost Damaged(NodeRoleOptions role, RoleFolder folder, string why) =>
        new(role, new StoppedRole(role.Role, folder.Id, $"damaged: {why}"), folder: folder);

    // A folder in use or not writable can be mended, and then the role serves. Records that a log lacks do not come
    // back.
    private static bool IsDamage(Exception e) => e switch
    {
        UnitFolderException folder => folder.IsLoss,
        NodeStartException or OperationCanceledException or IOException or UnauthorizedAccessException => false,
        _ => true,
    };

    private static async Task<NodeRoleHost> OpenUnitAsync(NodeLimits limits, NodeRoleOptions role, RoleFolder folder,
        string data, ClusterId cluster)
    {
        var options = limits.Unit with
        {
            Folder = data,
            Id = folder.Id,
            Cluster = cluster,
            MustExist = folder.WasOpened
        };
        var unit = await UnitNode.OpenAsync(options, SystemEntropy.Instance);
        return await RequireAsync(new NodeRoleHost(role, unit.Handler, unit, folder, unit.Handler.Fault), folder);
    }

    private static async Task<NodeRoleHost> OpenAcceptorAsync(NodeLimits limits, NodeRoleOptions role,
        RoleFolder folder, string data, ClusterId cluster)
    {
        var device = FileAcceptorDevice.Open(data);
        try
        {
            var handler = await AcceptorHandler.OpenAsync(device, cluster, folder.WasOpened ? NodeId.None : folder.Id,
                limits.Acceptor);
            return await RequireAsync(new NodeRoleHost(role, handler, handler, folder, handler.Fault), folder);
        }
        catch
        {
            await device.DisposeAsync();
            throw;
        }
    }

    // R2: what another identity stored must never be served under this one.
    private static async Task<NodeRoleHost> RequireAsync(NodeRoleHost host, RoleFolder folder)
    {
        if (host.Handler.Id == folder.Id) return host;
        await host.DisposeAsync();
        throw new NodeStartException($"The folder {folder.Path} holds the data of {host.Handler.Id}, not {folder.Id}.");
    }
}
