using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Register.Tests;

public sealed class AcceptorLogTests
{
    private static readonly NodeId Id = Registers.Id;

    private static async Task<(AcceptorLog Log, AcceptorCore Core)> OpenAsync(TestDevice device)
    {
        var core = new AcceptorCore();
        return (await AcceptorLog.OpenAsync(device, core, new Registers.Owner()), core);
    }

    private static async Task<TestDevice> FormattedAsync()
    {
        var device = new TestDevice();
        await AcceptorLog.FormatAsync(device, Registers.Cluster, Id);
        return device;
    }

    private static ImmutableArray<AcceptorRecord> Records(int slot) =>
    [
        new PromiseRecord(new Epoch(slot), Registers.Ballot(1)),
        new AcceptRecord(Registers.Ballot(1), Registers.Value(slot)),
    ];

    [Fact]
    public async Task Identity_and_records_survive()
    {
        var device = await FormattedAsync();
        var (log, _) = await OpenAsync(device);
        await log.AppendAsync(Records(1));
        await log.AppendAsync([new DecidedRecord(Registers.Value(1)), .. Records(2)]);
        var (again, core) = await OpenAsync(device);
        Assert.Equal((Id, Registers.Cluster), (again.Id, again.Cluster));
        Assert.Equal(Registers.Value(1), core.Newest);
        var slot = core.Handle(new ReadRegister(new Epoch(2))).Answer.Register!;
        Assert.Equal((Registers.Ballot(1), false), (slot.Accepted, slot.IsDecided));
    }

    [Fact]
    public async Task Golden_bytes_of_the_first_group()
    {
        var device = await FormattedAsync();
        var hex = Convert.ToHexString(device.Area(0));
        Assert.StartsWith("41435047" + "2E000000" + "0000000000000000", hex);
        Assert.EndsWith(
            "00000000" // zero
            + "0100" + "0100000000000000" // format version, generation
            + "000000C0000000000000000000000001"
            + "01000000000000000000000000000000"
            + "00000000", // records
            hex);
        Assert.Equal(24 + 46, device.Area(0).Length);
    }

    [Fact]
    public async Task Golden_bytes_of_records()
    {
        var device = await FormattedAsync();
        var (log, _) = await OpenAsync(device);
        var first = device.Area(0).Length;
        await log.AppendAsync([new PromiseRecord(new Epoch(3), Registers.Ballot(5)),
            new DecidedRecord(Registers.Value(2)), new FloorRecord(new Epoch(2))]);
        var hex = Convert.ToHexString(device.Area(0).AsSpan(first));
        Assert.StartsWith("41435047", hex);
        Assert.Equal("0100000000000000", hex.Substring(16, 16));
        Assert.EndsWith(
            "03000000"
            + "01" + "0300000000000000" + "0500000000000000" + "00000000000000000000000000000001"
            + "03" + "0C000000" + "0200000000000000" + "74657374"
            + "04" + "0200000000000000",
            hex);
    }

    [Fact]
    public async Task An_unformatted_device_is_refused_and_a_formatted_one_is_not_formatted_again()
    {
        await Assert.ThrowsAsync<AcceptorLogDamagedException>(() => OpenAsync(new TestDevice()));
        var device = await FormattedAsync();
        await Assert.ThrowsAsync<AcceptorLogDamagedException>(
            async () => await AcceptorLog.FormatAsync(device, Registers.Cluster, Id));
    }

    [Fact]
    public async Task A_torn_end_is_cut_and_appending_goes_on()
    {
        var device = await FormattedAsync();
        var (log, _) = await OpenAsync(device);
        await log.AppendAsync([new DecidedRecord(Registers.Value(1))]);
        var sound = device.Area(0).Length;
        await log.AppendAsync([new DecidedRecord(Registers.Value(2))]);
        var whole = device.Area(0).Length;
        for (var cut = sound; cut < whole; cut++)
        {
            var torn = device.Copy();
            torn.Truncate(0, cut);
            var (again, core) = await OpenAsync(torn);
            Assert.Equal(new Epoch(1), core.Newest!.Slot);
            await again.AppendAsync([new DecidedRecord(Registers.Value(3))]);
            Assert.Equal(new Epoch(3), (await OpenAsync(torn)).Core.Newest!.Slot);
        }
    }

    /// <summary>R6, R12: corrupt is not torn.</summary>
    [Fact]
    public async Task A_flipped_bit_before_the_last_group_is_damage()
    {
        var device = await FormattedAsync();
        var (log, _) = await OpenAsync(device);
        await log.AppendAsync([new DecidedRecord(Registers.Value(1))]);
        var second = device.Area(0).Length;
        await log.AppendAsync([new DecidedRecord(Registers.Value(2))]);
        for (var at = 0; at < second; at++)
        {
            var flipped = device.Copy();
            flipped.Area(0)[at] ^= 4;
            await Assert.ThrowsAsync<AcceptorLogDamagedException>(() => OpenAsync(flipped));
        }
    }

    [Fact]
    public async Task Compaction_keeps_the_state_and_alternates_the_areas()
    {
        var device = await FormattedAsync();
        var (log, core) = await OpenAsync(device);
        for (var slot = 1; slot <= 30; slot++)
        {
            var answer = core.Handle(new LearnDecision(Registers.Value(slot)));
            await log.AppendAsync(answer.Records);
            if (slot % 7 == 0) await log.CompactAsync(core.Snapshot());
            Assert.Equal(new Epoch(slot), (await OpenAsync(device.Copy())).Core.Newest!.Slot);
            Assert.True(device.Area(0).Length == 0 || device.Area(1).Length == 0);
        }
    }

    /// <summary>At every flush of a compaction, a crash that leaves anything of what is under way.</summary>
    [Fact]
    public async Task Crash_at_any_moment_of_a_compaction_loses_no_record()
    {
        var random = new Random(11);
        for (var round = 0; round < 200; round++)
        {
            var device = await FormattedAsync();
            var (log, core) = await OpenAsync(device);
            for (var slot = 1; slot <= 3; slot++)
                await log.AppendAsync(core.Handle(new LearnDecision(Registers.Value(slot))).Records);
            var pictures = new List<TestDevice>();
            device.BeforeFlush = () => pictures.Add(device.Crash(random));
            await log.CompactAsync(core.Snapshot());
            device.BeforeFlush = null;
            pictures.Add(device.Crash(random));
            foreach (var picture in pictures)
            {
                var (again, recovered) = await OpenAsync(picture);
                Assert.Equal(new Epoch(3), recovered.Newest!.Slot);
                await again.AppendAsync([new DecidedRecord(Registers.Value(4))]);
                Assert.Equal(new Epoch(4), (await OpenAsync(picture)).Core.Newest!.Slot);
            }
        }
    }

    /// <summary>kill -9 leaves everything to the page cache: what the next process finds there and answers from must be
    /// durable by then (R4, R12).</summary>
    [Fact]
    public async Task Record_left_unflushed_by_a_killed_acceptor_survives_a_power_cut_once_the_successor_serves()
    {
        var device = await FormattedAsync();
        var (log, core) = await OpenAsync(device);
        List<TestDevice> killed = [];
        device.BeforeFlush = () => killed.Add(device.Kill());
        await log.AppendAsync([new DecidedRecord(Registers.Value(1)), .. Records(2)]);
        core.Replay(new DecidedRecord(Registers.Value(1)));
        foreach (var record in Records(2)) core.Replay(record);
        await log.CompactAsync(core.Snapshot());
        await log.AppendAsync([new DecidedRecord(Registers.Value(2))]);
        Assert.Equal(4, killed.Count);
        Assert.All(killed,
            k => Assert.NotEqual((k.Area(0).Length, k.Area(1).Length),
                (k.PowerCut().Area(0).Length, k.PowerCut().Area(1).Length)));
        foreach (var left in killed)
        {
            var (_, served) = await OpenAsync(left);
            Assert.NotNull(served.Newest);
            Assert.Contains(0, new[] { left.PowerCut().Area(0).Length, left.PowerCut().Area(1).Length });
            var (_, again) = await OpenAsync(left.PowerCut());
            Assert.Equal(served.Newest, again.Newest);
            Assert.Equal(served.Handle(new ReadRegister(new Epoch(2))).Answer.Register,
                again.Handle(new ReadRegister(new Epoch(2))).Answer.Register);
        }
    }

    [Fact]
    public async Task A_damaged_area_beside_an_empty_one_is_damage()
    {
        var device = await FormattedAsync();
        device.Area(0)[30] ^= 1;
        await Assert.ThrowsAsync<AcceptorLogDamagedException>(() => OpenAsync(device));
    }

    /// <summary>R12: nothing was ever promised from there, which the folder's owner knows and the log cannot.</summary>
    [Fact]
    public async Task Crash_during_the_formatting_is_no_damage_to_an_acceptor_never_served()
    {
        var formatted = (await FormattedAsync()).Area(0);
        for (var torn = 1; torn < formatted.Length; torn++)
        {
            var device = new TestDevice();
            device.Write(0, 0, formatted.AsSpan(0, torn));
            await Assert.ThrowsAsync<AcceptorLogDamagedException>(
                () => Registers.OpenAsync(device));
            await using var acceptor = await Registers.OpenAsync(device, Id);
            Assert.Equal(Id, acceptor.Id);
        }

        // A log that can be read is never formatted again.
        var served = await FormattedAsync();
        var (log, _) = await OpenAsync(served);
        await log.AppendAsync(Records(1));
        await using var again = await Registers.OpenAsync(served, new NodeId(Guid.AllBitsSet));
        Assert.Equal(Id, again.Id);
    }
}
