using Corfu.Layout;
using Corfu.Protocol;
using Corfu.Sequencer;
using Corfu.Transport;
using Corfu.Unit;

namespace Corfu.Hosting;

/// <summary>One role in this process, with the folder it works in.</summary>
internal sealed class NodeRoleHost : IAsyncDisposable
{
    private const string DataName = "data";

    private readonly RoleFolder? _folder;
    private readonly IAsyncDisposable? _owner;
    private readonly Task<Exception>? _fault;

    private NodeRoleHost(IRoleHandler handler, IAsyncDisposable? owner, RoleFolder? folder, Task<Exception>? fault)
    {
        Handler = handler;
        _owner = owner;
        _folder = folder;
        _fault = fault;
    }

    public IRoleHandler Handler { get; }

    /// <summary>Why the role serves nothing any more until the process is restarted, or null.</summary>
    public string? Fault =>
        _fault is { IsCompletedSuccessfully: true } ? $"The {Handler.Role} {Handler.Id} has failed: {_fault.Result.Message}" : null;

    /// <summary>Completes, with the reason, when the role has failed; never for a role that cannot.</summary>
    public Task<Exception> Failure => _fault ?? new TaskCompletionSource<Exception>().Task;

    /// <exception cref="NodeStartException">The folder is in use, lost or damaged.</exception>
    public static async Task<NodeRoleHost> OpenAsync(NodeOptions node, NodeRoleOptions role)
    {
        // R2, R7: an incarnation of its own with every start.
        if (role.Role == NodeRole.Sequencer)
            return new NodeRoleHost(new SequencerHandler(SystemEntropy.Instance), null, null, null);
        var cluster = new ClusterId(node.Cluster);
        if (node.FormatNewFolders && !RoleFolder.IsFormatted(role.Folder!))
            RoleFolder.Format(role.Folder!, cluster, role.Role, new NodeId(role.Id == Guid.Empty ? SystemEntropy.Instance.NewGuid() : role.Id));
        var folder = RoleFolder.Open(role.Folder!, cluster, role.Role, new NodeId(role.Id));
        try
        {
            // R12: what was in use and is empty now has been lost; starting empty would break what it has promised.
            var data = Path.Combine(folder.Path, DataName);
            if (folder.WasOpened && (!Directory.Exists(data) || !Directory.EnumerateFileSystemEntries(data).Any()))
                throw new NodeStartException($"The data of the {role.Role.ToString().ToLowerInvariant()} in {folder.Path} is gone.");
            var host = role.Role == NodeRole.Unit ? await OpenUnitAsync(folder, data, cluster) : await OpenAcceptorAsync(folder, data, cluster);
            folder.MarkOpened();
            return host;
        }
        catch (Exception e)
        {
            folder.Dispose();
            if (e is NodeStartException or not (CorfuException or IOException or UnauthorizedAccessException)) throw;
            throw new NodeStartException($"{folder.Path}: {e.Message}", e);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_owner is not null) await _owner.DisposeAsync();
        _folder?.Dispose();
    }

    private static async Task<NodeRoleHost> OpenUnitAsync(RoleFolder folder, string data, ClusterId cluster)
    {
        var options = new UnitNodeOptions { Folder = data, Id = folder.Id, Cluster = cluster, MustExist = folder.WasOpened };
        var unit = await UnitNode.OpenAsync(options, SystemEntropy.Instance);
        var host = new NodeRoleHost(unit.Handler, unit, folder, unit.Handler.Fault);
        return await RequireAsync(host, folder);
    }

    private static async Task<NodeRoleHost> OpenAcceptorAsync(RoleFolder folder, string data, ClusterId cluster)
    {
        var device = FileAcceptorDevice.Open(data);
        try
        {
            var handler = await AcceptorHandler.OpenAsync(device, cluster, folder.WasOpened ? NodeId.None : folder.Id);
            return await RequireAsync(new NodeRoleHost(handler, handler, folder, handler.Fault), folder);
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
        await host._owner!.DisposeAsync();
        throw new NodeStartException($"The folder {folder.Path} holds the data of {host.Handler.Id}, not {folder.Id}.");
    }
}
