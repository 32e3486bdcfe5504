using Corfu;
using Tango.Testing;
using static Tango.Tests.RawRecords;

namespace Tango.Tests.Checkpoints;

/// <summary>Reports of a host to the directory about its checkpoint, while other hosts report theirs.</summary>
public class ClaimRetryTests
{
    /// <summary>The first host's checkpoint has an undecided record, so that it asks to keep what it found kept. When
    /// that arrived, another host's older checkpoints had let go of it, and the caller heard of a deletion.</summary>
    [Fact]
    public async Task Claim_that_another_host_has_raised_meanwhile_is_reread()
    {
        var beforeAppend = static () => ValueTask.CompletedTask;
        await using var world = new World(new InMemoryLogOptions { AroundAppend = _ => beforeAppend() });
        var options = new TangoOptions { NewLogMaxSpan = 1, Checkpoints = null };
        var runtime = world.NewRuntime(options);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await runtime.OpenWriteOnlyAsync<Accounts>("second", OpenMode.Create);
        await runtime.OpenWriteOnlyAsync<Accounts>("third", OpenMode.Create);
        var other = world.NewRuntime(options);
        await runtime.Checkpoints.WriteAsync(accounts);
        for (var i = 0; i < 20; i++) await accounts.SetAsync("y", i);
        var commit = await world.TailAsync();
        await world.Log.AppendToObjectsAsync(
            Entry(1, writer =>
            {
                WriteOrphan(ref writer, commit.Offset, [256, 257], 258);
                writer.Flush();
            }), [new StreamId(256), new StreamId(257), new StreamId(258)]);

        // A chunk, the final record, the directory's: each append asks twice.
        var appends = 0;
        beforeAppend = async () =>
        {
            if (++appends != 5) return;
            beforeAppend = static () => ValueTask.CompletedTask;
            await ReleaseAsync(other, commit);
        };
        await runtime.Checkpoints.WriteAsync(accounts);
        await runtime.SyncAsync();
        var claims = runtime.Services.Playback.Directory.Published.Claims;
        Assert.True(claims.Released > LogPosition.Zero && claims.Cohorts[new ObjectId(256)].Checkpoint > commit);
    }

    [Fact]
    public async Task One_of_an_object_that_was_deleted_meanwhile_says_so()
    {
        var beforeAppend = static () => ValueTask.CompletedTask;
        await using var world = new World(new InMemoryLogOptions { AroundAppend = _ => beforeAppend() });
        var runtime = world.NewRuntime(new TangoOptions { Checkpoints = null });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var other = world.NewRuntime(new TangoOptions { Checkpoints = null });
        var appends = 0;
        beforeAppend = async () =>
        {
            if (++appends != 5) return;
            beforeAppend = static () => ValueTask.CompletedTask;
            await other.Directory.DeleteAsync("accounts");
        };
        var refused = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.Checkpoints.WriteAsync(accounts));
        Assert.Contains("deleted", refused.Message);
    }

    /// <summary>As hosts whose checkpoints end below the position: two of each cohort.</summary>
    private static async Task ReleaseAsync(TangoRuntime runtime, LogPosition below)
    {
        await runtime.SyncAsync();
        foreach (var cohort in runtime.Services.Playback.Directory.Published.Claims.Cohorts.Keys)
        {
            for (var before = 4; before > 0; before -= 2)
            {
                var end = new LogPosition(below.Offset - before);
                await runtime.Services.Handle.CheckpointedAsync(cohort, end, end, null, default);
            }
        }

        await runtime.Log.TrimAsync();
    }
}
