using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Cluster;

public sealed partial class ClusterMonitor
{
    private void UnitAnswered(UnitView unit, MessageInfo message, FrameHeader header, Response response)
    {
        if (response.Status == Status.Failed) return;
        if (response.Epoch.Value < unit.Epoch && message.ReceivedAt > unit.EpochAt)
        {
            Report(CheckerNames.SealedEpoch,
                $"{unit.Name} answered {header.Opcode} at {response.Epoch}, after it had been at e{unit.Epoch}");
        }

        if (response.Epoch.Value > unit.Epoch)
        {
            unit.Epoch = response.Epoch.Value;
            unit.EpochAt = world.Steps;
        }

        CheckInstalled(unit, message, header, response);
        switch (response)
        {
            case WriteResponse write:
                WriteAnswered(unit, message, header, new WriteOutcome(write.Status, write.Stored, write.StoredOrigin),
                    ((EntryRequest)Decode(message)).Entry);
                break;
            case CompleteManyResponse { IsOk: true } copied:
                var many = (CompleteManyRequest)Decode(message);
                for (int i = 0; i < copied.Outcomes.Length; i++)
                    WriteAnswered(unit, message, header, copied.Outcomes[i], many.Entries[i]);
                break;
            case ReadResponse { IsOk: true } read:
                var asked = (ReadRequest)Decode(message);
                ReadAnswered(unit, message, asked, read);
                CheckNotJoining(unit, message, header, asked, read);
                break;
            case SealResponse { IsOk: true } seal:
                SealAnswered(unit, message, header, seal);
                break;
            case AckResponse { IsOk: true } when header.Opcode == Opcode.ConfirmEpoch:
                if (header.Epoch.Value < unit.SealedBelow && message.ReceivedAt > unit.SealedAt)
                {
                    Report(CheckerNames.SealedEpoch,
                        $"{unit.Name} confirmed {header.Epoch} after it was sealed for e{unit.SealedBelow}");
                }

                break;
            case AckResponse { IsOk: true } when header.Opcode == Opcode.Trim:
                Trimmed(unit, ((TrimRequest)Decode(message)).Position.Offset);
                break;
            case AckResponse { IsOk: true } when header.Opcode == Opcode.TrimPrefix:
                unit.RaiseTrimMark(((TrimPrefixRequest)Decode(message)).Below.Offset, world.Steps);
                break;
        }
    }

    /// <summary>R14: an epoch is installed before it is served, and durably so before anything is written or confirmed
    /// in it.</summary>
    private void CheckInstalled(UnitView unit, MessageInfo message, FrameHeader header, Response response)
    {
        if (response.Status == Status.NotInstalled && header.Epoch.Value <= unit.Kept
            && message.ReceivedAt > unit.KeptAt)
        {
            Report(CheckerNames.SealedEpoch,
                $"{unit.Name} has not installed {header.Epoch} any more, after it had said so of e{unit.Kept}");
        }

        if (!response.IsOk) return;
        var rests = header.Opcode is Opcode.Write or Opcode.Fill or Opcode.Complete or Opcode.CompleteMany
            or Opcode.ConfirmEpoch;
        // An installation counts by its arrival: its answer may be lost or late. Only an epoch that was never sent
        // to the unit is an error.
        if ((rests
            || header.Opcode is Opcode.Read or Opcode.StreamTails or Opcode.ListStreamTails or Opcode.ImportStreamTails)
            && header.Epoch.Value > unit.Installed)
        {
            Report(CheckerNames.SealedEpoch,
                $"{unit.Name} answered {header.Opcode} of {header.Epoch} to {message.Client}, but has only installed "
                + $"e{unit.Installed}");
        }

        if ((rests || header.Opcode == Opcode.Install) && header.Epoch.Value > unit.Kept)
            (unit.Kept, unit.KeptAt) = (header.Epoch.Value, world.Steps);
    }

    private void WriteAnswered(UnitView unit, MessageInfo message, FrameHeader header, WriteOutcome write,
        ReadOnlyMemory<byte> bytes)
    {
        if (write.Status is not (Status.Ok or Status.AlreadyWritten)) return;
        LogEntry entry = EntryCodec.Decode(bytes);
        long position = entry.Position.Offset;
        if (write.Status == Status.AlreadyWritten)
        {
            Admit(unit, position, new StoredPage(
                write.Stored == EntryKind.Junk, write.StoredOrigin.Writer.Value, write.StoredOrigin.Sequence, 0, 0,
                world.Steps), "says it holds");
            return;
        }

        if (header.Epoch.Value < unit.SealedBelow && (message.ReceivedAt > unit.SealedAt || position >= unit.SealedEnd))
        {
            Report(
                CheckerNames.SealedEpoch,
                $"{unit.Name} accepted {header.Opcode} at {entry.Position} of {header.Epoch} after its seal for "
                + $"e{unit.SealedBelow} (end {unit.SealedEnd})");
        }

        var page = new StoredPage(
            entry.IsJunk,
            entry.Origin.Writer.Value,
            entry.Origin.Sequence,
            entry.Position.Epoch.Value,
            Digest(bytes.Span),
            world.Steps);
        if (unit.Pages.TryGetValue(position, out StoredPage? before) && before.At < message.ReceivedAt)
        {
            Report(
                before.SameAs(page) ? CheckerNames.UnitDurable : CheckerNames.WriteOnce,
                $"{unit.Name} took {page} at {position} though it had said that it holds {before}");
            return;
        }

        Admit(unit, position, page, "stored");
        ChainPrefix(unit, message, header, position, page);
        NoteStreams(message, header, entry);
    }

    /// <summary>A unit that stores a value stands in a chain whose earlier replicas all hold that value.</summary>
    private void ChainPrefix(UnitView unit, MessageInfo message, FrameHeader header, long position, StoredPage page)
    {
        if (!TryChain(position, header.Epoch.Value, out Chain chain)) return;
        foreach (Replica replica in chain.Replicas)
        {
            UnitView earlier = _units[replica.Unit];
            if (earlier == unit) break;
            if (replica.Joining || position < earlier.TrimMark) continue;
            if (!earlier.Pages.TryGetValue(position, out StoredPage? there))
            {
                Report(CheckerNames.ChainPrefix,
                    $"{unit.Name} stored {page} at {position} before {earlier.Name}, which stands before it");
            }
            else if (!there.Trimmed && !there.SameAs(page))
            {
                Report(CheckerNames.ChainPrefix,
                    $"{unit.Name} stored {page} at {position}, but {earlier.Name} before it holds {there}");
            }
        }
    }

    private void Admit(UnitView unit, long position, StoredPage page, string how)
    {
        HighestGrant = Math.Max(HighestGrant, position);
        if (!unit.Pages.TryGetValue(position, out StoredPage? before))
        {
            unit.Pages.Add(position, page);
        }
        else if (!before.Trimmed && !before.SameAs(page))
        {
            Report(CheckerNames.WriteOnce, $"{unit.Name} {how} {page} at {position}, but before it was {before}");
        }
        else if (before.Digest == 0 && page.Digest != 0 && !before.Trimmed)
        {
            unit.Pages[position] = page with { At = before.At };
        }
    }

    private void Trimmed(UnitView unit, long position)
    {
        if (!unit.Pages.TryGetValue(position, out StoredPage? page))
        {
            unit.Pages.Add(position, page = new StoredPage(true, Guid.Empty, 0, 0, 0, world.Steps));
        }

        page.TrimmedAt ??= world.Steps;
    }

    private void ReadAnswered(UnitView unit, MessageInfo message, ReadRequest request, ReadResponse read)
    {
        for (int i = 0; i < read.Pages.Length; i++)
        {
            PageResult page = read.Pages[i];
            long position = page.Position.Offset;
            if (page.Position != request.Positions[i])
            {
                Report(CheckerNames.ReadValue,
                    $"{unit.Name} answered {page.Position} where {request.Positions[i]} was asked");
            }

            unit.Pages.TryGetValue(position, out StoredPage? known);
            bool wasTrimmed = (position < unit.TrimMark && unit.TrimMarkAt < message.ReceivedAt)
                || known?.TrimmedAt < message.ReceivedAt;
            if (wasTrimmed && page.State != PageState.Trimmed)
            {
                Report(CheckerNames.UnitDurable,
                    $"{unit.Name} says that {position} is {page.State}; it had said that it was trimmed");
                continue;
            }

            if (page.State == PageState.Unwritten)
            {
                if (known is not null && known.At < message.ReceivedAt)
                {
                    Report(CheckerNames.UnitDurable,
                        $"{unit.Name} says that {position} is unwritten; it had said that it holds {known}");
                }
            }
            else if (page.State == PageState.Corrupt)
            {
                if (MayBeCorrupt(message.Node)) Mark("page found damaged");
                else
                    Report(CheckerNames.UnitDurable,
                        $"{unit.Name} says that {position} is corrupt; no simulated fault damages what was flushed");
            }
            else if (page.State == PageState.Trimmed)
            {
                if (page.BelowMark) unit.RaiseTrimMark(position + 1, world.Steps);
                else Trimmed(unit, position);
            }
            else
            {
                ulong digest = request.Detail == ReadDetail.Full ? Digest(page.Bytes.Span) : 0;
                Admit(unit, position, new StoredPage(
                    page.State == PageState.Junk, page.Origin.Writer.Value, page.Origin.Sequence, 0, digest,
                    world.Steps), "shows");
            }
        }
    }

    private void SealAnswered(UnitView unit, MessageInfo message, FrameHeader header, SealResponse seal)
    {
        long highest = unit.Pages.Where(p => p.Value.At < message.ReceivedAt).Select(p => p.Key).DefaultIfEmpty(-1)
            .Max();
        if (seal.End.Offset <= highest)
        {
            Report(CheckerNames.SealedEpoch,
                $"{unit.Name} sealed for {header.Epoch} reports the end {seal.End.Offset}, but it holds {highest}");
        }

        if (header.Epoch.Value > unit.SealedBelow)
        {
            unit.SealedBelow = header.Epoch.Value;
            unit.SealedAt = world.Steps;
            unit.SealedEnd = seal.End.Offset;
            Mark("unit sealed");
        }
    }
}
