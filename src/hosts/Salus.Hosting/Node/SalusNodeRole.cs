using System.Text.Json;

namespace Salus.Hosting;

/// <summary>A machine of the block store as a role of a process (<see cref="NodeRoles.With"/>): its store, and beside
/// it the region servers, a role without a folder that is there while the node's registration lasts.</summary>
public sealed class SalusNodeRole : INodeRole
{
    public static SalusNodeRole Instance { get; } = new();

    private SalusNodeRole()
    {
    }

    public string Name => SalusRoles.BlockStoreName;

    public NodeRole Role => SalusRoles.BlockStore;

    public bool HasFolder => true;

    public string? FaultOf(JsonElement? settings)
    {
        try
        {
            var faults = SalusNodeSettings.Read(settings).Faults().ToList();
            return faults.Count == 0 ? null : $"the settings of the block store: {string.Join(' ', faults)}";
        }
        catch (JsonException e)
        {
            return $"the settings of the block store are not valid: {e.Message}";
        }
    }

    public void AddRequests(RequestTable table) => SalusMessages.AddTo(table);

    public async Task<RunningRole> OpenAsync(RoleStart start)
    {
        var running = await RunningSalusNode.OpenAsync(start, SalusNodeSettings.Read(start.Settings));
        return new RunningRole(running.Handler, running)
        {
            Fault = running.Fault,
            Warning = () => running.Warning,
        };
    }

    public async Task<RoleAnswer> ProbeAsync(
        ITransport transport, NodeAddress node, CancellationToken cancellationToken)
    {
        var store = await transport.CallAsync(node, new StoreInfoRequest(Epoch.None), cancellationToken);
        if (!store.IsOk)
            return new RoleAnswer(true, Epoch.None, $"answers {store.Status}")
            {
                Refusal = $"answers {store.Status}",
            };
        var detail = $"{store.Regions.Length} regions, {store.LogBytes} bytes of log, {store.Free} bytes free";
        return new RoleAnswer(true, Epoch.None, detail)
        {
            StoredBytes = store.LogBytes,
            Refusal = store.State == StoreState.Failed ? "the store has failed" : null,
            Warning = store.State == StoreState.Salvaged ? "the store's log is not whole: it takes nothing new" : null,
        };
    }
}
