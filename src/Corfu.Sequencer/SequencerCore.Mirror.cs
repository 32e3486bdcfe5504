using System.Collections.Immutable;
using System.Runtime.InteropServices;
using Corfu.Protocol;

namespace Corfu.Sequencer;

public sealed partial class SequencerCore
{
    // A mirror begins an epoch with positions below its start that its copier may still have to complete: before the
    // copier's word there is neither a tail, which readers would read up to, nor a frozen list of any stream.
    private bool _ready;

    /// <summary>
    /// The tail of a mirror rises by its copier alone. An epoch that is behind the copier's has not got its streams
    /// from here: those below the start are frozen at the units, as in any log.
    /// </summary>
    private TailResponse Advance(AdvanceRequest request)
    {
        var status = CheckEpoch(request.Epoch);
        if (status == Status.Ok && !_projection!.IsMirror) status = Status.BadRequest;
        if (status != Status.Ok) return Answer(status);
        if (request.From.Offset > _next || (!_ready && request.To.Offset < _start)) return Answer(Status.Conflict);
        _ready = true;
        var news = request.Entries.Where(e => e.Position.Offset >= _next).ToList();
        var streams = news.SelectMany(e => e.Streams).Distinct().ToImmutableArray();
        if (FindUnknown(streams) is { Length: > 0 } unknown)
            return new TailResponse(Status.UnknownStream, _epoch, default, [], 0, unknown);
        if (!ReserveStreams(streams)) return Answer(Status.StreamLimit);
        foreach (var entry in news)
        {
            foreach (var stream in entry.Streams)
                CollectionsMarshal.GetValueRefOrAddDefault(_streams, stream.Value, out _)
                    .Push(entry.Position.Offset, 1);
        }

        _next = Math.Max(_next, request.To.Offset);
        return Answer(Status.Ok);
    }

    private TailResponse Answer(Status status) => new(status, _epoch, status == Status.Ok ? Tail : default, [], 0, []);
}
