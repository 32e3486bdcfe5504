using BankSample.Processes;

namespace BankSample.Run;

/// <summary>The replica processes. One that is killed is started again.</summary>
internal sealed class Replicas : IAsyncDisposable
{
    private readonly string _connection;
    private readonly CallProcess[] _processes;

    private Replicas(string connection, CallProcess[] processes) =>
        (_connection, _processes) = (connection, processes);

    public static async Task<Replicas> StartAsync(string connection, int count, CancellationToken cancellationToken)
    {
        Task<CallProcess>[] starting =
            [.. Enumerable.Range(0, count).Select(_ => StartAsync(connection, cancellationToken))];
        Task all = Task.WhenAll(starting);
        await all.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        var replicas = new Replicas(connection,
            [.. starting.Where(static task => task.IsCompletedSuccessfully).Select(static task => task.Result)]);
        try
        {
            await all;
            return replicas;
        }
        catch
        {
            // Some may have started.
            await replicas.DisposeAsync();
            throw;
        }
    }

    public int Count => _processes.Length;

    /// <summary>Any number: clients go from one to the next.</summary>
    public CallProcess this[int number] => Volatile.Read(ref _processes[number % _processes.Length]);

    /// <summary>SIGKILL, and a new process in its place.</summary>
    public async Task KillAsync(int number, CancellationToken cancellationToken)
    {
        await using var killed = this[number];
        await killed.KillAsync();
        Volatile.Write(
            ref _processes[number % Count], await StartAsync(_connection, cancellationToken));
    }

    private static Task<CallProcess> StartAsync(string connection, CancellationToken cancellationToken) =>
        CallProcess.StartAsync("A replica", [ReplicaMode.Name, connection], cancellationToken);

    public async ValueTask DisposeAsync() =>
        await Task.WhenAll(_processes.Select(static process => process.DisposeAsync().AsTask()));
}
