using System.Collections.Immutable;
using Corfu;
using Tango.Calls;
using Tango.Model;
using Tango.Playback;
using Tango.Records;
using Tango.Transactions;

namespace Tango.Runtime;

/// <summary>The runtime side of an open handle: update_helper and query_helper (Tango 3.1), or their transactional
/// forms (3.2).</summary>
/// <param name="hosted">Null: it is not open for good.</param>
/// <param name="remote">The cohort of an object that is hosted while it is read; null otherwise.</param>
/// <param name="enlisted">The transaction that the calls belong to; null: the one that flows with the caller.</param>
internal sealed class ObjectHost(
    RuntimeEnvironment given, PlaybackParts playback, TransactionRunner transactions, DirectoryEntry entry,
    HostedObject? hosted, IReadOnlyList<DirectoryEntry>? remote = null, TangoTransaction? enlisted = null)
    : IObjectHost
{
    private readonly ImmutableArray<StreamId> _streams = [entry.Id.Stream];

    public string Name => entry.Name;

    public ObjectId Id => entry.Id;

    public TimeProvider Time => given.Time;

    public LoopContext Loops => given.Loops;

    public bool IsInTransaction => Transaction is not null;

    public void OnCommit(Action action)
    {
        if (Transaction is { } transaction) transaction.OnCommit(action);
        else action();
    }

    public DirectoryEntry Entry => entry;

    /// <summary>Null: only written from here, or hosted while it is read (Tango 4.1, A and D).</summary>
    public HostedObject? Hosted => hosted;

    private TangoTransaction? Transaction => enlisted ?? transactions.Flow.Current;

    public ObjectHost Enlist(TangoTransaction transaction) =>
        new(given, playback, transactions, entry, hosted, remote, transaction);

    /// <summary>The object with its view, for as long as the caller uses it.</summary>
    /// <exception cref="TangoNotHostedException">The object was opened for writing only.</exception>
    public ValueTask<CohortUse> UseAsync(CancellationToken cancellationToken)
    {
        if (hosted is not null) return new ValueTask<CohortUse>(new CohortUse(hosted, null));
        if (remote is null) throw new TangoNotHostedException(Name);
        if (playback.Directory.IsDeleted(entry.Id)) throw new TangoObjectDeletedException(Name, entry.Id);
        return UseRemoteAsync(remote, cancellationToken);
    }

    /// <param name="other">That of the runtime to which the object should belong.</param>
    /// <exception cref="TangoTransactionException">The object belongs to another runtime.</exception>
    public void RequireSame(TransactionFlow other)
    {
        if (!ReferenceEquals(transactions.Flow, other))
            throw new TangoTransactionException($"Object '{Name}' belongs to another runtime");
    }

    public ValueTask UpdateAsync(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        CancellationToken cancellationToken)
    {
        var update = RunAsync<ValueTuple>(mutator, key, arguments, null, cancellationToken);
        return update.IsCompletedSuccessfully ? ValueTask.CompletedTask : new ValueTask(update.AsTask());
    }

    public ValueTask<TResult> UpdateAsync<TResult>(
        MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments, CancellationToken cancellationToken) =>
        RunAsync(mutator, key, arguments, new ApplyResult<TResult>(), cancellationToken);

    public TangoPost Post(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments, IPostSink sink)
    {
        ArgumentNullException.ThrowIfNull(sink);
        if (IsInTransaction) throw new TangoTransactionException($"An update of '{Name}' cannot be posted in it");
        RequireNotDeleted();
        RequireNotStopped(hosted);
        var written = Written(key);
        var call = new PostCall(
            Encode(mutator, written, arguments), _streams,
            mutator.Reads && hosted is not null ? playback.Player : null, sink, given.Logger)
        {
            Writes = Declared(written),
        };
        playback.Calls.Send(call);
        return new TangoPost(call);
    }

    public ValueTask<TResult> QueryAsync<TView, TState, TResult>(
        ObjectKey key, TState state, Func<TView, TState, TResult> read, CancellationToken cancellationToken)
        where TView : TangoObject
    {
        try
        {
            return Transaction is { } transaction
                ? transaction.QueryAsync(this, key, state, read, cancellationToken)
                : ReadLatestAsync(state, read, cancellationToken);
        }
        catch (Exception e)
        {
            return ValueTask.FromException<TResult>(e);
        }
    }

    public async ValueTask<TResult> WaitForAsync<TResult>(
        Func<CancellationToken, ValueTask<TResult>> read, Func<TResult, bool> until,
        CancellationToken cancellationToken)
    {
        RequireNoTransaction();
        using var use = await UseAsync(cancellationToken);
        while (true)
        {
            // Before the read: a change that it does not see ends the wait.
            var seen = playback.Player.Published.Of(use.Hosted).LastWriteEnd;
            var result = await read(cancellationToken);
            if (until(result)) return result;
            await playback.Changes.WaitAsync(use.Hosted, view => view.LastWriteEnd != seen, cancellationToken);
        }
    }

    public async ValueTask<TResult> WaitForViewAsync<TView, TResult>(
        Func<TView, TResult> read, Func<TResult, bool> until, CancellationToken cancellationToken)
        where TView : TangoObject
    {
        RequireNoTransaction();
        using var use = await UseAsync(cancellationToken);
        TangoObject? tested = null;
        while (true)
        {
            await playback.Cohorts.RebuildIfStoppedAsync(use.Hosted, cancellationToken);
            tested = playback.Player.Published.Of(use.Hosted).Require(use.Hosted);
            var result = read((TView)tested);
            if (until(result)) return ResultCopy<TResult>.Of(result, use.Hosted);
            if (!await playback.Changes.WaitAsync(use.Hosted, IsOver, cancellationToken))
                await playback.Player.SyncAsync(cancellationToken);
        }

        // Playback changes a copy of what is published: the same instance has not changed.
        bool IsOver(FrozenView view)
        {
            if (ReferenceEquals(view.View, tested)) return false;
            tested = view.View;
            return tested is not TView changed || until(read(changed));
        }
    }

    public async ValueTask<TangoCall> ReadCallAsync(LogPlace place, CancellationToken cancellationToken)
    {
        if (place.Own is not { } own || own.Object.Id != entry.Id || Transaction?.IsPending(own) != true)
            return await playback.CallReader.ReadAsync(place, entry, cancellationToken);
        return new TangoCall(place, own.Mutator.Number, own.Key.Memory, own.Arguments);
    }

    public ValueTask<ImmutableArray<TangoCall>> ReadCallsAsync(
        ImmutableArray<LogPlace> places, CancellationToken cancellationToken) =>
        playback.CallReader.ReadManyAsync(places, entry, cancellationToken);

    public async ValueTask<TResult> AsOneAsync<TResult>(
        Func<ValueTask<TResult>> body, CancellationToken cancellationToken)
    {
        if (Transaction is not null) return await body();
        var result = await transactions.RunAsync(_ => body(), null, cancellationToken);
        return result.ThrowIfNotCommitted();
    }

    // Errors reach the caller through the task, also those found before anything is asynchronous.
    private async ValueTask<TResult> RunAsync<TResult>(
        MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments, ApplyResult<TResult>? result,
        CancellationToken cancellationToken)
    {
        RequireNotDeleted();
        if (Transaction is not { } transaction)
        {
            // R16: what it returns or rejects is only known where the object is played.
            if (hosted is null && !mutator.Reads)
                return await SendAsync(null, mutator, key, arguments, result, cancellationToken);
            using var use = await UseAsync(cancellationToken);
            await playback.Cohorts.RebuildIfStoppedAsync(use.Hosted, cancellationToken);
            var returned = await SendAsync(use.Hosted, mutator, key, arguments, result, cancellationToken);
            return ResultCopy<TResult>.Of(returned, use.Hosted);
        }

        var played = await transaction.UpdateAsync(
            this, mutator, Written(key), arguments.WrittenMemory, result, cancellationToken);
        return result is null || played is null ? default! : ResultCopy<TResult>.Of(result.Value!, played);
    }

    private async ValueTask<CohortUse> UseRemoteAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        // Opening runs outside the caller's transaction.
        transactions.Flow.Leave();
        return await playback.Cohorts.UseAsync(members, entry, cancellationToken);
    }

    private void RequireNoTransaction()
    {
        if (IsInTransaction)
            throw new TangoTransactionException($"A transaction sees no change of '{Name}', so that it cannot wait");
    }

    /// <summary>As far as it is known here: nothing is asked for it.</summary>
    /// <exception cref="TangoObjectDeletedException">The object was deleted.</exception>
    private void RequireNotDeleted()
    {
        if (hosted is null)
        {
            if (playback.Directory.IsDeleted(entry.Id)) throw new TangoObjectDeletedException(Name, entry.Id);
        }
        else if (playback.Player.Published.Of(hosted).Stopped is { IsDeletion: true } deleted)
        {
            throw deleted.Told;
        }
    }

    private void RequireNotStopped(HostedObject? played)
    {
        playback.Player.ThrowIfFailed();
        if (played is not null && playback.Player.Published.Of(played).Stopped is { } stopped) throw stopped.Told;
    }

    private async ValueTask<TResult> ReadLatestAsync<TView, TState, TResult>(
        TState state, Func<TView, TState, TResult> read, CancellationToken cancellationToken)
        where TView : TangoObject
    {
        using var use = await UseAsync(cancellationToken);
        var target = use.Hosted;
        await playback.Player.SyncAsync(cancellationToken);
        await playback.Cohorts.RebuildIfStoppedAsync(target, cancellationToken);
        var view = (TView)playback.Player.Published.Of(target).Require(target);
        return ResultCopy<TResult>.Of(read(view, state), target);
    }

    private ValueTask<TResult> SendAsync<TResult>(
        HostedObject? played, MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments,
        ApplyResult<TResult>? result, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        RequireNotStopped(played);
        var written = Written(key);
        var call = new UpdateCall<TResult>(
            Encode(mutator, written, arguments), _streams, mutator.Reads ? playback.Player : null, result)
        {
            Log = given.Log,
            Writes = Declared(written),
        };
        playback.Calls.Send(call);
        return call.WaitAsync(call.Task, cancellationToken);
    }

    // R23: code of a lower level reads no list. The whole object conflicts with all that its parts do.
    private ObjectKey Written(ObjectKey key) =>
        key.IsList && playback.Directory.Level < FeatureLevel.KeyLists ? ObjectKey.None : key;

    private ImmutableArray<CellScope> Declared(ObjectKey written) => playback.Scopes.Update(
        entry.Id, written.IsNone || !Planted.Is("update-without-its-keys") ? written : new ObjectKey([]));

    private ReadOnlyMemory<byte> Encode(MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments)
    {
        var buffer = new ArgumentBuffer(
            RecordFormat.MaxUpdateHeader + RecordFormat.MaxKeyLength(key) + arguments.Length);
        var writer = new MessagePackWriter(buffer);
        RecordFormat.WriteUpdate(ref writer, entry.Id, mutator.Number, key, arguments.WrittenSpan);
        writer.Flush();
        return buffer.WrittenMemory;
    }
}
