using Corfu.Orleans.Tests.Support;
using Orleans;
using Orleans.Runtime;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Contracts;

/// <summary>A silo that starts late loads checkpoints in place of the whole history.</summary>
public sealed class CheckpointTests : IAsyncDisposable
{
    private readonly TangoTestHost _log = new();

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task All_that_the_providers_keep_comes_back_from_checkpoints(bool keepStatesInLog)
    {
        var grain = GrainId.Create("cart", "one");
        var member = Silos.NewEntry();
        member.AddSuspector(Silos.NewAddress(), member.StartTime);
        var state = new GrainState<CartState>(new CartState { Text = "kept" });
        var reminder = new ReminderEntry
        {
            GrainId = grain,
            ReminderName = "wake up",
            StartAt = DateTime.UnixEpoch,
            Period = TimeSpan.FromMinutes(1),
        };
        var address = new GrainAddress
        {
            GrainId = grain,
            ActivationId = ActivationId.NewId(),
            SiloAddress = member.SiloAddress,
        };
        await using var first = new TestSilo(_log, storage: options => options.KeepStatesInLog = keepStatesInLog);
        await first.Membership.InsertAsync(member, (await first.Membership.AllAsync()).Version.Next());
        await first.Storage.WriteStateAsync("cart", grain, state);
        var etag = await first.Reminders.UpsertRow(reminder);
        await first.Directory.Register(address);
        var names = first.Runtime.Directory.ReadFigures()
            .Select(static figures => figures.Name)
            .Where(static name => name.StartsWith("orleans/", StringComparison.Ordinal))
            .ToArray();
        Assert.Equal(4, names.Length);
        foreach (var name in names) await first.Runtime.Checkpoints.WriteAsync(name);

        await using var late = new TestSilo(_log, storage: options => options.KeepStatesInLog = keepStatesInLog);
        var members = await late.Membership.AllAsync();
        var read = new GrainState<CartState>(new CartState());
        await late.Storage.ReadStateAsync("cart", grain, read);
        var stored = await late.Reminders.ReadRow(grain, "wake up");

        Assert.Equal(1, members.Version.Version);
        Assert.Equal(member.ToFullString(), Assert.Single(members.Members).Item1.ToFullString());
        Assert.Equal((state.ETag, "kept"), (read.ETag, read.State!.Text));
        Assert.Equal(etag, stored!.ETag);
        Assert.Equal(address, await late.Directory.Lookup(grain));
        var lateFigures = late.Runtime.Directory.ReadFigures();
        Assert.All(lateFigures.Where(figures => names.Contains(figures.Name)), static figures =>
        {
            Assert.Equal(0, figures.Updates);
            Assert.NotEqual(0, figures.CheckpointBytes);
        });
    }
}
