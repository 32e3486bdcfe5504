using Corfu.Protocol;

namespace Corfu.FaultRuns.PowerCuts.Recorded;

/// <summary>A unit's content before a life and the requests during it, from which the content after any power cut
/// follows.</summary>
internal sealed class UnitHistory(UnitContent baseline)
{
    /// <summary>Written or filled, one value a position.</summary>
    public Dictionary<long, byte[]> Entries { get; } = [];

    public HashSet<long> Trims { get; } = [];

    public HashSet<long> Marks { get; } = [];

    public HashSet<long> Seals { get; } = [];

    public HashSet<long> Installs { get; } = [];

    public void Check(UnitContent found, IEnumerable<(string Verb, long Value)> acknowledged)
    {
        var pages = new HashSet<long>();
        var trims = new HashSet<long>();
        long mark = baseline.Mark, sealedBelow = baseline.SealedBelow.Value, installed = baseline.Installed.Value,
            end = baseline.End;
        foreach (var (verb, value) in acknowledged)
        {
            switch (verb)
            {
                case "page":
                    pages.Add(value);
                    end = Math.Max(end, value + 1);
                    break;
                case "trim":
                    trims.Add(value);
                    end = Math.Max(end, value + 1);
                    break;
                case "mark":
                    mark = Math.Max(mark, value);
                    break;
                case "seal":
                    sealedBelow = Math.Max(sealedBelow, value);
                    break;
                default:
                    installed = Math.Max(installed, value);
                    sealedBelow = Math.Max(sealedBelow, value);
                    break;
            }
        }

        Require(found.Mark >= mark, $"the trim mark {mark} was acknowledged and is {found.Mark}");
        Require(found.Mark == baseline.Mark || Marks.Contains(found.Mark), $"no client set the trim mark {found.Mark}");
        Require(found.SealedBelow.Value >= sealedBelow,
            $"the seal below {sealedBelow} was acknowledged and is {found.SealedBelow}");
        Require(
            found.SealedBelow == baseline.SealedBelow || Seals.Contains(found.SealedBelow.Value)
            || Installs.Contains(found.SealedBelow.Value),
            $"no client sealed below {found.SealedBelow}");
        Require(found.Installed.Value >= installed,
            $"epoch {installed} was installed and acknowledged, and is {found.Installed}");
        Require(found.Installed == baseline.Installed || Installs.Contains(found.Installed.Value),
            $"no client installed {found.Installed}");
        Require(found.End >= end, $"the end {end} was acknowledged and is {found.End}");
        for (var position = 0L; position < Math.Max(found.End, end); position++)
            CheckPage(found, position, pages.Contains(position), trims.Contains(position));
        foreach (var tail in found.Tails) CheckTail(found, tail);
    }

    private void CheckPage(UnitContent found, long position, bool acknowledged, bool trimmed)
    {
        var page = found.Pages[(int)position];
        var before = position < baseline.Pages.Length ? baseline.Pages[(int)position] : default;
        var entry = Entries.GetValueOrDefault(position)
            ?? (before.State is PageState.Data or PageState.Junk ? before.Bytes.ToArray() : null);
        if (before.State is PageState.Data or PageState.Junk) acknowledged = true;
        if (before.State == PageState.Trimmed) trimmed = true;
        switch (page.State)
        {
            case PageState.Unwritten:
                Require(!acknowledged && !trimmed,
                    $"{position} was {(trimmed ? "trimmed" : "written")} and acknowledged, and is lost");
                break;
            case PageState.Data or PageState.Junk:
                Require(!trimmed, $"the trim of {position} was acknowledged and is lost");
                Require(entry is not null && page.Bytes.Span.SequenceEqual(entry),
                    $"{position} holds what no client wrote");
                break;
            case PageState.Trimmed:
                Require(
                    page.BelowMark ? position < found.Mark : trimmed || Trims.Contains(position),
                    $"{position} is trimmed, and no client trimmed it");
                // R5: a random trim keeps the headers, so that stream walks survive.
                if (!page.BelowMark && entry is not null)
                    Require(IsTombstone(page.Bytes, entry), $"the tombstone of {position} is lost");
                break;
            default:
                throw new LostException($"{position} is {page.State}, and no fault damaged it");
        }
    }

    private static bool IsTombstone(ReadOnlyMemory<byte> headers, byte[] entry)
    {
        if (headers.IsEmpty) return false;
        var tombstone = EntryCodec.DecodeHeaders(headers);
        var whole = EntryCodec.DecodeHeaders(entry);
        return tombstone.Position == whole.Position && tombstone.Streams.Select(s => s.Stream)
            .SequenceEqual(whole.Streams.Select(s => s.Stream));
    }

    // The tail must name the newest K of the stored pages, unless newer ones, trimmed since, take their places.
    private void CheckTail(UnitContent found, StreamTail tail)
    {
        for (var position = found.Mark; position < found.End; position++)
        {
            var page = found.Pages[(int)position];
            if (page.State != PageState.Data || !IsIn(page.Bytes, tail.Stream)) continue;
            Require(
                tail.Positions.Contains(new LogPosition(position))
                || tail.Positions.Count(p => p.Offset > position) >= StreamHeader.MaxBackpointers,
                $"the tail of {tail.Stream} lacks {position}");
        }

        foreach (var told in tail.Positions)
        {
            var entry = Entries.GetValueOrDefault(told.Offset);
            var before = baseline.Tails.FirstOrDefault(t => t.Stream == tail.Stream);
            Require(
                (entry is not null && IsIn(entry, tail.Stream))
                || (before is not null && before.Positions.Contains(told)) || IsOld(told.Offset, tail.Stream),
                $"the tail of {tail.Stream} names {told}, where no client wrote of it");
        }
    }

    private bool IsOld(long position, StreamId stream) =>
        position < baseline.Pages.Length && !baseline.Pages[(int)position].Bytes.IsEmpty
        && IsIn(baseline.Pages[(int)position].Bytes, stream);

    private static bool IsIn(ReadOnlyMemory<byte> entry, StreamId stream) =>
        EntryCodec.DecodeHeaders(entry).Streams.Any(s => s.Stream == stream);

    private static void Require(bool holds, string what)
    {
        if (!holds) throw new LostException(what);
    }
}
