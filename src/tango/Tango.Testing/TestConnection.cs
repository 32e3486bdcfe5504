using System.Collections.Immutable;
using Corfu;

namespace Tango.Testing;

/// <summary>Connection of one process to the log of a <see cref="TangoTestHost"/>, which a test can disturb. Safe for
/// concurrent use.</summary>
public sealed class TestConnection : ICorfuLog
{
    private readonly InMemoryCorfuLog _log;
    private volatile bool _isLost;
    private Func<ValueTask>? _change;
    private int _fault;

    internal TestConnection(InMemoryCorfuLog log) => _log = log;

    public int MaxPayload => _log.MaxPayload;

    /// <summary>From now on every call of this process fails with <see cref="LogUnavailableException"/>, without an
    /// effect, as after the time-out of a real client.</summary>
    public void Lose() => _isLost = true;

    public void Restore() => _isLost = false;

    /// <summary>
    /// Runs a change of another process' right before the next append of this one takes its place in the log: after a
    /// transaction has read and before it is decided. One that wrote what the transaction has read aborts it.
    /// </summary>
    public void BeforeNextAppend(Func<ValueTask> change)
    {
        ArgumentNullException.ThrowIfNull(change);
        Interlocked.Exchange(ref _change, change);
    }

    /// <summary>The next append ends in doubt: a transaction as <see cref="TxOutcome.InDoubt"/>, an update with
    /// <see cref="TangoInDoubtException"/>.</summary>
    /// <param name="isWritten">Whether its entry is in the log, which is heard later:
    /// <see cref="TangoRuntime.ResolveAsync"/>.</param>
    public void LeaveNextInDoubt(bool isWritten = true) =>
        Interlocked.Exchange(
            ref _fault, (int)(isWritten ? AppendFault.WrittenButUnknown : AppendFault.LostAndUnknown));

    public async ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfNotRaw(streams);
        return await AppendAnyAsync(payload, streams, cancellationToken);
    }

    public async ValueTask<AppendResult> AppendToObjectsAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfRaw(streams);
        return await AppendAnyAsync(payload, streams, cancellationToken);
    }

    public async ValueTask<DecidedAppend> AppendDecidedAsync(ImmutableArray<StreamId> streams, Declaration declaration,
        int largest, Func<Ruling?, ReadOnlyMemory<byte>?> payload, ImmutableArray<StreamId> followed,
        CancellationToken cancellationToken = default)
    {
        var fault = await DisturbAsync();
        return await _log.AppendDecidedAsync(streams, declaration, largest, payload, fault, cancellationToken);
    }

    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken = default)
    {
        RequireConnected();
        return _log.ResolveAsync(unknown, cancellationToken);
    }

    public ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles, CancellationToken cancellationToken = default)
    {
        RequireConnected();
        return _log.ReadManyAsync(positions, detail, mode, cancellationToken);
    }

    public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default)
    {
        RequireConnected();
        return _log.CheckAsync(streams, consistency, cancellationToken);
    }

    public ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default)
    {
        RequireConnected();
        return _log.FillAsync(position, cancellationToken);
    }

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default)
    {
        RequireConnected();
        return _log.TrimAsync(position, cancellationToken);
    }

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        RequireConnected();
        return _log.TrimPrefixAsync(below, cancellationToken);
    }

    private async ValueTask<AppendResult> AppendAnyAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        var fault = await DisturbAsync();
        return await _log.AppendAnyAsync(payload, streams, default, fault, cancellationToken);
    }

    private async ValueTask<AppendFault?> DisturbAsync()
    {
        RequireConnected();
        if (Interlocked.Exchange(ref _change, null) is { } change) await change();
        RequireConnected();
        var fault = (AppendFault)Interlocked.Exchange(ref _fault, (int)AppendFault.None);
        return fault == AppendFault.None ? null : fault;
    }

    private void RequireConnected()
    {
        if (_isLost) throw new LogUnavailableException("The test has cut the connection.");
    }
}
