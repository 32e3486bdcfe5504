using BankSample.Processes;

namespace BankSample.Run;

/// <summary>The replica processes. One that is killed is started again.</summary>
internal sealed class Replicas : IAsyncDisposable
{
    private readonly string _connection;
    private readonly ReplicaProcess[] _processes;

    private Replicas(string connection, ReplicaProcess[] processes) =>
        (_connection, _processes) = (connection, processes);

    public static async Task<Replicas> StartAsync(string connection, int count, CancellationToken cancellationToken) =>
        new(connection, await Task.WhenAll(
            Enumerable.Range(0, count).Select(_ => ReplicaProcess.StartAsync(connection, cancellationToken))));

    public int Count => _processes.Length;

    /// <summary>Any number: clients go from one to the next.</summary>
    public ReplicaProcess this[int number] => Volatile.Read(ref _processes[number % _processes.Length]);

    /// <summary>SIGKILL, and a new process in its place.</summary>
    public async Task KillAsync(int number, CancellationToken cancellationToken)
    {
        await using var killed = this[number];
        await killed.KillAsync();
        Volatile.Write(
            ref _processes[number % Count], await ReplicaProcess.StartAsync(_connection, cancellationToken));
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var process in _processes) await process.DisposeAsync();
    }
}
