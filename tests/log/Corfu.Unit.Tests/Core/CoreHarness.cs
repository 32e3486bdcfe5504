using System.Runtime.InteropServices;
using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>A core over a memory store, driven without a handler: answers come with the sequence number that they wait
/// for.</summary>
internal sealed class CoreHarness
{
    private CoreHarness(MemoryPageStore store, UnitCore core)
    {
        Store = store;
        Core = core;
    }

    public MemoryPageStore Store { get; }

    public UnitCore Core { get; }

    public static async Task<CoreHarness> OpenAsync(long installed = 1, long start = 0, UnitCoreOptions? options = null)
    {
        var store = new MemoryPageStore(commitByHand: true);
        var harness = new CoreHarness(store,
            await UnitCore.OpenAsync(store, options ?? new UnitCoreOptions { Cluster = Entries.Cluster }));
        if (installed > 0) harness.Install(installed, start);
        return harness;
    }

    public T Ask<T>(Request<T> request)
        where T : Response
    {
        var answer = Core.Handle(request);
        return answer.Plan is null
            ? Assert.IsType<T>(answer.Response)
            : Assert.IsType<T>((Response)PageReader.ReadAsync(Store, answer.Plan, Core).Result, exactMatch: false);
    }

    public long LsnOf(Request request) => Core.Handle(request).Lsn;

    public Status Install(long epoch, long start = 0) =>
        Ask(new InstallRequest(Entries.Projection(epoch, start))).Status;

    public WriteResponse Write(long position, long epoch = 1, string payload = "payload", long sequence = 0,
        params ulong[] streams) =>
        Ask(new WriteRequest(new Epoch(epoch), Entries.Data(position, epoch, payload, sequence, streams)));

    public WriteResponse Fill(long position, long epoch = 1, params ulong[] streams) =>
        Ask(new FillRequest(new Epoch(epoch), Entries.Junk(position, epoch, streams)));

    public WriteResponse Complete(byte[] entry, long epoch = 1) => Ask(new CompleteRequest(new Epoch(epoch), entry));

    public Status Trim(long position, long epoch = 1, byte[]? tombstone = null) =>
        Ask(new TrimRequest(new Epoch(epoch), new LogPosition(position), tombstone ?? [])).Status;

    public Status TrimPrefix(long below, long epoch = 1) =>
        Ask(new TrimPrefixRequest(new Epoch(epoch), new LogPosition(below))).Status;

    public SealResponse Seal(long epoch) => Ask(new SealRequest(new Epoch(epoch)));

    public Status Confirm(long epoch) => Ask(new ConfirmEpochRequest(new Epoch(epoch))).Status;

    public ReadResponse Read(ReadDetail detail, long epoch, params long[] positions) =>
        Ask(new ReadRequest(new Epoch(epoch), Entries.Positions(positions), detail));

    public PageResult Page(long position, ReadDetail detail = ReadDetail.Full, long epoch = 1) =>
        Assert.Single(Read(detail, epoch, position).Pages);

    public Status Repair(byte[] entry, long epoch = 1) => Ask(new RepairRequest(new Epoch(epoch), entry)).Status;

    /// <summary>A bit of the payload, or of the headers, turns over and stays so, and a read has found that.</summary>
    public void Damage(long position, bool headers = false)
    {
        var slot = Store.Find(new LogPosition(position));
        Flip(slot, headers ? slot.HeaderLength - 1 : slot.Length - 1);
        Assert.Equal(PageState.Corrupt, Page(position).State);
    }

    /// <summary>As if two transfers in a row had been bad: the page is marked, and there is nothing wrong with
    /// it.</summary>
    public void Misread(long position, bool headers = false)
    {
        Store.MakeDurable(Store.AppendedUntil);
        var slot = Store.Find(new LogPosition(position));
        var bytes = Store.ReadAsync(slot.Address, slot.HeaderLength).Result;
        Core.MarkCorrupt(new LogPosition(position), slot.Address,
            headers ? new CorruptPage(false, 0, null) : CorruptPage.Of(bytes.Span));
    }

    // The store hands out its own memory.
    private void Flip(in PageSlot slot, int at)
    {
        Assert.True(MemoryMarshal.TryGetArray(Store.ReadAsync(slot.Address, slot.Length).Result, out var bytes));
        bytes.AsSpan()[at] ^= 4;
    }

    public long[] Tails(ulong stream, long epoch = 1) =>
        [.. Assert.Single(Ask(new StreamTailsRequest(new Epoch(epoch), [new StreamId(stream)])).Tails).Positions
            .Select(p => p.Offset)];
}
