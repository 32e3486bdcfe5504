using Salus.Nbd.Wire;

namespace Salus.Nbd.Handshake;

/// <summary>LIST_META_CONTEXT and SET_META_CONTEXT. Data: length of the export's name 4, name, number of queries 4,
/// for each query its length 4 and the query. The only context is base:allocation.</summary>
internal static class MetaContextOption
{
    private const string Allocation = "base:allocation";
    private const string Namespace = "base:";

    public static OptionOutcome AnswerList(HandshakeState state, ReadOnlySpan<byte> data)
    {
        if (Find(state, OptionCode.ListMetaContext, data, out var queries) is null) return OptionOutcome.NextOption;
        if (queries.Count == 0 || queries.Contains(Allocation) || queries.Contains(Namespace))
            OptionReplies.Context(state.Output, OptionCode.ListMetaContext, 0, Allocation);
        OptionReplies.Ack(state.Output, OptionCode.ListMetaContext);
        return OptionOutcome.NextOption;
    }

    /// <summary>Replaces what was chosen before, even where it fails.</summary>
    public static OptionOutcome AnswerSet(HandshakeState state, ReadOnlySpan<byte> data)
    {
        state.Allocation = null;
        if (Find(state, OptionCode.SetMetaContext, data, out var queries) is not { } mount)
            return OptionOutcome.NextOption;
        if (queries.Contains(Allocation))
        {
            state.Allocation = mount;
            OptionReplies.Context(
                state.Output, OptionCode.SetMetaContext, Commands.BlockStatusCommand.AllocationId, Allocation);
        }

        OptionReplies.Ack(state.Output, OptionCode.SetMetaContext);
        return OptionOutcome.NextOption;
    }

    private static Exports.ExportMount? Find(
        HandshakeState state, OptionCode option, ReadOnlySpan<byte> data, out List<string> queries)
    {
        if (!TryParse(data, out var name, out queries))
        {
            OptionReplies.Error(state.Output, option, OptionReply.Invalid, $"the data of {option} is malformed");
            return null;
        }

        if (!state.IsStructured)
        {
            OptionReplies.Error(state.Output, option, OptionReply.Invalid, "negotiate STRUCTURED_REPLY first");
            return null;
        }

        if (state.Exports.Find(name) is { } mount) return mount;
        OptionReplies.Error(
            state.Output, option, OptionReply.Unknown, "there is no such export; LIST names all");
        return null;
    }

    private static bool TryParse(ReadOnlySpan<byte> data, out string name, out List<string> queries)
    {
        queries = [];
        var reader = new OptionReader(data);
        if (!reader.TryReadString(out name) || !reader.TryRead(out uint count)) return false;
        for (var i = 0u; i < count; i++)
        {
            if (!reader.TryReadString(out var query)) return false;
            queries.Add(query);
        }

        return reader.IsAtEnd;
    }
}
