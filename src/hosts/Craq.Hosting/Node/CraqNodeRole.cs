using System.Text.Json;
using Corfu.Server;

namespace Craq.Hosting;

/// <summary>The CRAQ node as a role of a process (<see cref="NodeRoles.With"/>).</summary>
public sealed class CraqNodeRole : INodeRole
{
    public static CraqNodeRole Instance { get; } = new();

    private CraqNodeRole()
    {
    }

    public string Name => CraqRole.Name;

    public NodeRole Role => CraqRole.Role;

    public bool HasFolder => true;

    public string? FaultOf(JsonElement? settings)
    {
        try
        {
            var faults = CraqNodeSettings.Read(settings).Faults().ToList();
            return faults.Count == 0 ? null : $"the settings of the node of CRAQ: {string.Join(' ', faults)}";
        }
        catch (JsonException e)
        {
            return $"the settings of the node of CRAQ are not valid: {e.Message}";
        }
    }

    public void AddRequests(RequestTable table) => CraqMessages.AddTo(table);

    public async Task<RunningRole> OpenAsync(RoleStart start)
    {
        try
        {
            var running = await RunningCraqNode.OpenAsync(start, CraqNodeSettings.Read(start.Settings));
            return new RunningRole(running.Handler, running)
            {
                Fault = running.Fault,
                Warning = () => running.Warning,
            };
        }
        catch (ListenException e)
        {
            // Not the data's fault.
            throw new IOException(e.Message, e);
        }
    }

    public async Task<RoleAnswer> ProbeAsync(
        ITransport transport, NodeAddress node, CancellationToken cancellationToken)
    {
        var answer = await transport.CallAsync(node, new ChainsRequest(Epoch.None, [], []), cancellationToken);
        return answer.IsOk
            ? new RoleAnswer(true, Epoch.None, $"member of {answer.Views.Length} chains")
            : new RoleAnswer(true, Epoch.None, $"answers {answer.Status}") { Refusal = $"answers {answer.Status}" };
    }
}
