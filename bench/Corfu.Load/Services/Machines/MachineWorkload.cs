using Corfu.Client;
using Corfu.StateMachines;

namespace Corfu.Load;

/// <summary>Commands of a machine whose replica this process has: it plays those of all processes.</summary>
internal sealed class MachineWorkload : IWorkload
{
    private readonly Replica<CountingMachine> _replica;

    private MachineWorkload(Replica<CountingMachine> replica) => _replica = replica;

    /// <param name="client">Stays the caller's.</param>
    public static async Task<MachineWorkload> OpenAsync(string name, CorfuClient client) =>
        new(await Replica<CountingMachine>.OpenAsync(client, name, static () => new CountingMachine(),
            new ReplicaOptions
            {
                // Idle replicas poll as well. A replica that appends learns of others' commands from its own appends.
                PollInterval = TimeSpan.FromMilliseconds(100),
            }));

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var command = new byte[size];
        return async _ => (await _replica.ProposeAsync(command)).Require();
    }

    public ValueTask DisposeAsync() => _replica.DisposeAsync();
}
