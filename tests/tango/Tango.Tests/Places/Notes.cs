using System.Buffers;
using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango.Tests.Places;

/// <summary>An index over the log, written by hand the way generated code looks: texts by key, which stay in the
/// log.</summary>
public sealed class Notes : TangoObject, ITangoObject<Notes>, ITangoIndex
{
    private static readonly MutatorInfo s_set = new(1, "Set", Reads: false);
    private static readonly MutatorInfo s_remove = new(2, "Remove", Reads: false);
    private static readonly MutatorInfo s_replace = new(3, "Replace", Reads: true);

    private static readonly TangoObjectType s_type =
        new("test-notes", static () => new Notes(), static _ => { }, s_set, s_remove, s_replace);

    private ImmutableSortedDictionary<string, LogPlace> _places =
        ImmutableSortedDictionary.Create<string, LogPlace>(StringComparer.Ordinal);

    static TangoObjectType ITangoObject<Notes>.ObjectType => s_type;

    LogPlace? ITangoIndex.LowestPlace => _places.IsEmpty ? null : _places.Values.Min();

    public ValueTask SetAsync(string key, string text) =>
        UpdateHelperAsync(s_set, KeyOf(key), Arguments(text), default);

    public ValueTask RemoveAsync(string key) => UpdateHelperAsync(s_remove, KeyOf(key), Arguments(null), default);

    /// <summary>Returns the place of the call.</summary>
    public ValueTask<LogPlace> ReplaceAsync(string key, string text) =>
        UpdateHelperAsync<LogPlace>(s_replace, KeyOf(key), Arguments(text), default);

    public ValueTask<ImmutableSortedDictionary<string, LogPlace>> PlacesAsync() =>
        QueryHelperAsync<Notes, ValueTuple, ImmutableSortedDictionary<string, LogPlace>>(
            ObjectKey.None, default, static (view, _) => view._places, default);

    public ValueTask<LogPlace> PlaceAsync(string key) =>
        QueryHelperAsync<Notes, string, LogPlace>(KeyOf(key), key, static (view, k) => view._places[k], default);

    public async ValueTask<string> ReadAsync(LogPlace place) => (await ReadCallAsync(place)).ReadArgument<string>();

    /// <summary>Keys with their texts, each read from the log.</summary>
    public async ValueTask<SortedDictionary<string, string>> ReadAllAsync()
    {
        var texts = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (var (key, place) in await PlacesAsync()) texts.Add(key, await ReadAsync(place));
        return texts;
    }

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
        var name = Wire.ReadString(ref key);
        _places = mutator switch
        {
            1 or 3 => _places.SetItem(name, context.Place),
            2 => _places.Remove(name),
            _ => throw new TangoUnknownRecordException(s_type.Name, mutator),
        };
        if (mutator == 3) context.Return(context.Place);
    }

    void ITangoView.SaveState(IBufferWriter<byte> output)
    {
        var writer = new MessagePackWriter(output);
        writer.WriteArrayHeader(_places.Count);
        foreach (var (key, place) in _places)
        {
            writer.Write(key);
            TangoFormatters.Write(ref writer, place);
        }

        writer.Flush();
    }

    void ITangoView.LoadState(ReadOnlyMemory<byte> state)
    {
        var reader = new MessagePackReader(state);
        _places = _places.Clear();
        for (var left = reader.ReadArrayHeader(); left > 0; left--)
            _places = _places.Add(reader.ReadString()!, TangoFormatters.Read<LogPlace>(ref reader));
    }

    private static ObjectKey KeyOf(string key)
    {
        var buffer = new ArgumentBuffer();
        Wire.WriteString(buffer, key);
        return ObjectKey.From(buffer);
    }

    private static ArgumentBuffer Arguments(string? text)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(text is null ? 0 : 1);
        if (text is not null) writer.Write(text);
        writer.Flush();
        return buffer;
    }
}
