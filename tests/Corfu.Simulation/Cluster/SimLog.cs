using System.Collections.Immutable;
using Corfu.Simulation.Kernel;
using Tango.Testing;

namespace Corfu.Simulation.Cluster;

/// <summary>The log under the stores' Tango objects: the rules of a log in memory, with a delay of its own for each
/// call, and machines that do not reach it.</summary>
/// <remarks>Stands for a cluster of the log without one in each seed: those have seeds of their own.</remarks>
internal sealed class SimLog
{
    private readonly InMemoryCorfuLog _log;
    private readonly HashSet<string> _unreachable = [];
    private readonly SimRandom _random;
    private readonly long _latency;

    /// <param name="latency">Mean of a call's way there and back, in ticks.</param>
    public SimLog(World world, long latency)
    {
        _latency = latency;
        _random = world.Random.Split("log");
        _log = new InMemoryCorfuLog(
            new InMemoryLogOptions { Yield = false, Time = new SimProcess(world, 0, "log").Time },
            new SimEntropy(world.Random.Split("log writer")));
    }

    /// <summary>Called when an entry is in the log.</summary>
    public Action Appended { get; set; } = static () => { };

    public void Lose(string machine) => _unreachable.Add(machine);

    public void Restore(string machine) => _unreachable.Remove(machine);

    public void RestoreAll() => _unreachable.Clear();

    public ICorfuLog Connect(SimProcess process, string machine) => new Connection(this, process, machine);

    /// <summary>A connection that reaches the log at once, whatever happens.</summary>
    public ICorfuLog Observe(SimProcess process) => new Connection(this, process, null);

    /// <param name="machine">Null: nothing is between the process and the log.</param>
    private sealed class Connection(SimLog log, SimProcess process, string? machine) : ICorfuLog
    {
        private static readonly TimeSpan s_timeOut = TimeSpan.FromMilliseconds(200);

        public int MaxPayload => log._log.MaxPayload;

        public ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
            CancellationToken cancellationToken = default) =>
            AppendAsync(token => log._log.AppendAsync(payload, streams, token), cancellationToken);

        public ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload,
            ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default) =>
            AppendAsync(token => log._log.AppendToObjectsAsync(payload, streams, token), cancellationToken);

        public async ValueTask<AppendOutcome> ResolveAsync(
            AppendResult unknown, CancellationToken cancellationToken = default) =>
            await CallAsync(() => log._log.ResolveAsync(unknown, cancellationToken), cancellationToken);

        public ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(ImmutableArray<LogPosition> positions,
            ReadDetail detail = ReadDetail.Full, ReadMode mode = ReadMode.CloseHoles,
            CancellationToken cancellationToken = default) =>
            CallAsync(() => log._log.ReadManyAsync(positions, detail, mode, cancellationToken), cancellationToken);

        public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
            ReadConsistency consistency = ReadConsistency.Linearizable,
            CancellationToken cancellationToken = default) =>
            CallAsync(() => log._log.CheckAsync(streams, consistency, cancellationToken), cancellationToken);

        public ValueTask<LogReadResult> FillAsync(
            LogPosition position, CancellationToken cancellationToken = default) =>
            CallAsync(() => log._log.FillAsync(position, cancellationToken), cancellationToken);

        public async ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default)
        {
            await HopAsync(cancellationToken);
            await log._log.TrimAsync(position, cancellationToken);
        }

        public async ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default)
        {
            await HopAsync(cancellationToken);
            await log._log.TrimPrefixAsync(below, cancellationToken);
        }

        private async ValueTask<AppendResult> AppendAsync(
            Func<CancellationToken, ValueTask<AppendResult>> append, CancellationToken cancellationToken)
        {
            await HopAsync(cancellationToken);
            var result = await append(cancellationToken);
            log.Appended();
            try
            {
                await HopAsync(CancellationToken.None);
                return result;
            }
            catch (LogUnavailableException)
            {
                // The answer is lost, and the entry has its position.
                return result with { Outcome = AppendOutcome.Unknown };
            }
        }

        private async ValueTask<T> CallAsync<T>(Func<ValueTask<T>> call, CancellationToken cancellationToken)
        {
            await HopAsync(cancellationToken);
            var result = await call();
            await HopAsync(cancellationToken);
            return result;
        }

        // Half of the way there, or back.
        private async Task HopAsync(CancellationToken cancellationToken)
        {
            if (machine is null) return;
            var delay = TimeSpan.FromTicks(log._random.Exponential((log._latency / 2) + 1) + 1);
            await Task.Delay(delay, process.Time, cancellationToken);
            if (!log._unreachable.Contains(machine)) return;
            await Task.Delay(s_timeOut, process.Time, cancellationToken);
            if (log._unreachable.Contains(machine))
                throw new LogUnavailableException($"{machine} does not reach the simulated log.");
        }
    }
}
