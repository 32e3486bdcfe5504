using Corfu.Agent;
using Corfu.Protocol;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Cluster;

public sealed partial class ClusterMonitor
{
    /// <summary>Checks what a projection changes against the one before it.</summary>
    private void CheckChanges(Projection projection)
    {
        if (!_projections.TryGetValue(projection.Epoch.Value - 1, out Projection? before)) return;
        MarkAutomatic(before, projection);
        if (projection.Segments.Length > before.Segments.Length) Mark("segment opened");
        if (projection.Segments.Length < before.Segments.Length) Mark("segments merged");
        foreach (NodeAddress unit in projection.Units)
        {
            // R2: a unit that joins has never held anything.
            if (!before.HasUnit(unit.Id) && _units[unit.Id].Pages.Count > 0)
            {
                Report(CheckerNames.Membership,
                    $"{_units[unit.Id].Name} joins {projection.Epoch} though it holds {_units[unit.Id].Pages.Count} "
                    + "pages");
            }
        }

        foreach (Segment segment in before.Segments.Where(s => s.Until is not null))
        {
            for (long position = segment.From.Offset; position < segment.Until!.Value.Offset; position++)
                CheckPromoted(before, projection, new LogPosition(position));
        }
    }

    private void MarkAutomatic(Projection before, Projection projection)
    {
        if (!ReconfigurationReason.TryParse(projection.Reason, out ReconfigurationReason reason) || !reason.IsAutomatic)
            return;
        if (projection.Sequencer != before.Sequencer) Mark("agent replaced the sequencer");
        if (!projection.Acceptors.AsSpan().SequenceEqual(before.Acceptors.AsSpan())) Mark("agent replaced an acceptor");
        if (before.Units.Any(u => !projection.HasUnit(u.Id))) Mark("agent took a unit out");
    }

    /// <summary>R15: a replica becomes full when every position is decided on it, as it is on those that were full
    /// before.</summary>
    private void CheckPromoted(Projection before, Projection projection, LogPosition position)
    {
        Chain old = before.ChainOf(position);
        Chain chain = projection.ChainOf(position);
        foreach (Replica replica in chain.Replicas)
        {
            if (replica.Joining || !old.Replicas.Any(r => r.Unit == replica.Unit && r.Joining)) continue;
            Mark("joining replica became full");
            UnitView unit = _units[replica.Unit];
            if (position.Offset < unit.TrimMark || unit.Pages.ContainsKey(position.Offset)
                || position < projection.TrimMark) continue;
            Report(CheckerNames.Membership,
                $"{unit.Name} becomes full in {projection.Epoch}, but {position.Offset} is not decided on it");
        }
    }

    /// <summary>
    /// R15: joining replicas are written to and asked what they have, never read. One that refuses a write because the
    /// position is trimmed there may be asked how it is trimmed (R5): that is final, and nothing is believed that
    /// another replica would deny.
    /// </summary>
    private void CheckNotJoining(UnitView unit, MessageInfo message, FrameHeader header, ReadRequest request,
        ReadResponse read)
    {
        if (request.Detail == ReadDetail.State) return;
        foreach (PageResult page in read.Pages)
        {
            if (page.State == PageState.Trimmed && request.Detail == ReadDetail.Headers) continue;
            if (!TryChain(page.Position.Offset, header.Epoch.Value, out Chain chain)
                || !chain.Replicas.Any(r => r.Unit == message.Node && r.Joining)) continue;
            Report(CheckerNames.Membership,
                $"{message.Client} reads {page.Position} of {header.Epoch} from {unit.Name}, which is joining there");
        }
    }

    /// <summary>R5: a client is told that a position is trimmed only when all replicas have the trim, joining ones
    /// too.</summary>
    public void ShownTrimmed(LogPosition position)
    {
        // A range that the projection has forgotten has no chain to ask.
        if (!TryChain(position.Offset, HighestEpoch, out Chain chain) || position < Newest.TrimMark) return;
        foreach (Replica replica in chain.Replicas)
        {
            UnitView unit = _units[replica.Unit];
            if (position.Offset < unit.TrimMark
                || (unit.Pages.TryGetValue(position.Offset, out StoredPage? page) && page.Trimmed)) continue;
            // A replica that joined since is brought what it lacks by its rebuild.
            if (replica.Joining) continue;
            Report(CheckerNames.TrimComplete,
                $"{position.Offset} was shown as trimmed, but {unit.Name} of its chain was never told so");
        }
    }

    private void MarkRequest(MessageInfo message, FrameHeader header)
    {
        if (!_units.TryGetValue(message.Node, out UnitView? unit)) return;
        switch (header.Opcode)
        {
            case Opcode.Install when header.Epoch.Value <= FarthestEpoch:
                if (header.Epoch.Value < unit.SealedBelow) Mark("seal raced with install");
                unit.Installed = Math.Max(unit.Installed, header.Epoch.Value);
                break;
            case Opcode.Fill or Opcode.Complete:
                MarkEntry(message, header, ((EntryRequest)Decode(message)).Entry.Span);
                break;
            case Opcode.CompleteMany:
                foreach (ReadOnlyMemory<byte> entry in ((CompleteManyRequest)Decode(message)).Entries)
                    MarkEntry(message, header, entry.Span);
                break;
        }
    }

    private void MarkEntry(MessageInfo message, FrameHeader header, ReadOnlySpan<byte> entry)
    {
        LogPosition position = EntryCodec.PeekPosition(entry);
        bool joining = TryChain(position.Offset, header.Epoch.Value, out Chain chain)
            && chain.Replicas.Any(r => r.Unit == message.Node && r.Joining);
        if (joining) Mark(header.Opcode == Opcode.Fill ? "rebuild met a hole" : "entry copied to a joining replica");
        else if (header.Opcode != Opcode.Fill) Mark("entry completed by another");
    }

    private void MarkAnswer(MessageInfo message, FrameHeader header, Response response)
    {
        if (header.Opcode == Opcode.Write && response.Status == Status.Sealed) Mark("token crossed an epoch");
        if (header.Opcode == Opcode.Write
            && response is WriteResponse { Status: Status.AlreadyWritten, Stored: EntryKind.Junk })
            Mark("append lost to a fill");
        if (response.Status == Status.Trimmed && header.Opcode == Opcode.Write) Mark("append met a trim");
        bool wasRemoved = !Newest.HasUnit(message.Node) && _projections.Values.Any(p => p.HasUnit(message.Node));
        if (wasRemoved && header.Opcode is Opcode.Write or Opcode.Read or Opcode.ConfirmEpoch)
            Mark("removed unit came back");
    }

    /// <summary>The newest decided projection up to that epoch that names the unit; none: there is none.</summary>
    public Epoch LastNamed(NodeId unit, Epoch until) =>
        _projections.Values.LastOrDefault(p => p.Epoch <= until && p.HasUnit(unit))?.Epoch ?? Epoch.None;

    /// <summary>Newest projection that an acceptor was asked to accept; not necessarily decided.</summary>
    public Projection? NewestProposed { get; private set; }

    /// <summary>R2: a unit takes another identity only when a decided projection named the old one and a later one does
    /// not. Until then a chain may count on what it holds.</summary>
    public void Reformatted(NodeId unit)
    {
        Mark("removed unit formatted itself anew");
        if (!_projections.Values.Any(p => p.HasUnit(unit)) || Newest.HasUnit(unit))
            Report(CheckerNames.Membership, $"{_units[unit].Name} formatted itself anew, but {Newest.Epoch} names it");
    }

    /// <summary>Two values on their way to one epoch's register.</summary>
    private void AcceptReceived(AcceptRequest accept)
    {
        Projection value = accept.Value;
        if (_proposed.TryGetValue(value.Epoch.Value, out Projection? other) && !other.Equals(value))
            Mark("two reconfigurers proposed");
        _proposed.TryAdd(value.Epoch.Value, value);
        if (NewestProposed is null || value.Epoch > NewestProposed.Epoch) NewestProposed = value;
    }
}
