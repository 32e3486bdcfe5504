namespace Salus.Log;

/// <summary>The driver's port to the log: one volume, the nodes, and the lock of the volume's writer. Commands answer
/// why nothing changes; null: it changes, or had changed before.</summary>
internal interface IVolumeLog
{
    VolumeId Volume { get; }

    /// <summary>The newest state that this process has played. Any thread.</summary>
    VolumeState State { get; }

    /// <inheritdoc cref="State"/>
    NodeBookView Nodes { get; }

    /// <summary>A state that has everything that was recorded before the call.</summary>
    ValueTask<VolumeState> RefreshAsync(CancellationToken cancellationToken);

    /// <summary>A state behind that revision, as soon as there is one.</summary>
    ValueTask<VolumeState> WaitAsync(long after, CancellationToken cancellationToken);

    /// <summary>Waits for the writer's lock.</summary>
    ValueTask<IWriterLease> AcquireAsync(TimeSpan timeToLive, string owner, CancellationToken cancellationToken);

    ValueTask<RunStart> BeginRunAsync(long token, Incarnation driver, CancellationToken cancellationToken);

    ValueTask<string?> OpenedAsync(
        long run, Hash128 root, ImmutableArray<long> generations, CancellationToken cancellationToken);

    ValueTask<string?> LackAsync(long run, ImmutableArray<int> regions, ShownBatch prefix,
        ImmutableArray<long> generations, CancellationToken cancellationToken);

    ValueTask<string?> AdmitAsync(int region, long generation, long run, CancellationToken cancellationToken);

    ValueTask<string?> ReplaceAsync(int region, long generation, ImmutableArray<RegionMember> members,
        CancellationToken cancellationToken);

    ValueTask<string?> NoteAsync(
        long run, CommitProof proof, Hash128 root, long stable, CancellationToken cancellationToken);

    ValueTask<string?> RecordSnapshotAsync(long run, string name, BatchName marker, Hash128 root, CommitProof proof,
        CancellationToken cancellationToken);

    ValueTask<string?> SuspectAsync(Suspicion suspicion, CancellationToken cancellationToken);
}

/// <summary>The writer's lock, as long as it is held.</summary>
internal interface IWriterLease : IAsyncDisposable
{
    /// <summary>Higher than that of every earlier holder.</summary>
    long Token { get; }

    /// <summary>False: another process may have the lock, or soon may.</summary>
    bool IsHeld { get; }

    /// <summary>Cancelled when the lock is held no more.</summary>
    CancellationToken Lost { get; }
}
