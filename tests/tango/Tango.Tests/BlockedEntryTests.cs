using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging.Abstractions;
using Tango.Calls;
using Tango.Checkpoints;
using Tango.Chores;
using Tango.Formatting;
using Tango.Model;
using Tango.Playback;
using Tango.Records;
using Tango.Testing;

namespace Tango.Tests;

public class BlockedEntryTests
{
    private const ulong Runtime = 77;

    /// <summary>Playback that waited for a decision at record 0 took the entry's callers again when it went on, found
    /// none, and answered none of them.</summary>
    [Fact]
    public async Task Callers_of_an_entry_that_blocks_at_the_first_record_are_answered()
    {
        var written = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var isSecondTime = false;
        // The append never returns, as if playback were faster.
        var log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            AroundAppend = async token =>
            {
                if (isSecondTime)
                {
                    written.TrySetResult();
                    await Task.Delay(Timeout.Infinite, token);
                }

                isSecondTime = true;
            },
        });
        using var lifetime = new CancellationTokenSource();
        var logger = NullLogger.Instance;
        var calls = new CallBatcher(
            log, Runtime, new TangoOptions(), static () => true, LoopContext.Pool, logger, lifetime.Token);
        var entry = new DirectoryEntry(new ObjectId(257), "written", "test-fragile", null, 16);
        var call = new CommitCall(
            CommitReading(256, writing: 257), [new StreamId(256), new StreamId(257)], new NotPlayed(), SpillList.Empty,
            TangoDirectory.DefaultMaxSpan, entry)
        { Log = log };
        calls.Send(call);
        await written.Task;

        var hosted = new HostedObjects();
        hosted.Add(new Cohort([entry], static _ => null));
        var commits = new Commits();
        var directory = new PlayedDirectory(new ViewPublisher());
        var loader = new CohortLoader(new CheckpointReader(log, FeatureLevel.Newest, logger));
        var context = new PlaybackContext(
            log, log.OpenCursor, calls, loader, directory, new TangoOptions(), TimeProvider.System, LoopContext.Pool,
            new ChoreLoop(TimeProvider.System, LoopContext.Pool, lifetime.Token), SystemEntropy.Instance, logger);
        var applier = new RecordApplier(
            hosted, commits, new SpilledWrites(log), context.Directory, calls, null, logger);
        var played = (await log.ReadManyAsync([LogPosition.Zero]))[0].Entry!;
        EntryProgress progress = default;
        var blockedAt = applier.ApplyRecords(played, ref progress, 0);
        Assert.Equal(new RecordVersion(LogPosition.Zero, 0), blockedAt);
        commits.Learn(blockedAt!.Value, null, new LogPosition(1));
        Assert.Null(applier.ApplyRecords(played, ref progress, 0));
        Assert.True(progress.IsOwn);
        Assert.Same(call, Assert.Single(progress.Calls!));
        call.Publish();
        Assert.True((await call.Task).IsCommitted);
        await lifetime.CancelAsync();
    }

    private sealed class NotPlayed : IPlayedEntries
    {
        public ImmutableArray<StreamId> Followed => [];

        public ValueTask PlayToAsync(LogPosition end, AppendedEntry? placed, CancellationToken cancellationToken) =>
            throw new InvalidOperationException("The append returned");
    }

    private static ReadOnlyMemory<byte> CommitReading(int read, int writing)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(RecordFormat.CommitLength);
        writer.Write((int)RecordKind.Commit);
        writer.Write((int)CommitFlags.NeedsDecision);
        writer.Write(0L);
        writer.WriteArrayHeader(1);
        writer.WriteArrayHeader(CommitFormat.ReadLength);
        writer.Write(read);
        writer.WriteNil();
        writer.WriteArrayHeader(1);
        writer.WriteArrayHeader(CommitFormat.WriteLength);
        writer.Write(writing);
        writer.Write(1);
        writer.WriteNil();
        writer.Write([1]);
        writer.WriteArrayHeader(0);
        writer.Flush();
        return buffer.WrittenMemory;
    }
}
