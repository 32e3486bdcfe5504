using System.Buffers;
using Tango;
using Tango.Collections;
using Tango.Formatting;

namespace Corfu.Fuzz;

/// <summary>States of objects, as a checkpoint has them: a byte that says whose, and what its SaveState
/// wrote.</summary>
internal static class FuzzedViews
{
    private static readonly TangoObjectType[] s_types =
    [
        TypeOf<TangoDictionary<string, long>>(), TypeOf<TangoSet<string>>(), TypeOf<TangoList<string>>(),
        TypeOf<TangoQueue<string>>(), TypeOf<TangoRegister<string>>(), TypeOf<TangoCounter>(), TangoDirectory.Type,
    ];

    public static IReadOnlyList<byte[]> Samples()
    {
        var views = s_types.Select(static type => type.Create()).ToArray();
        for (var i = 0; i < 9; i++)
        {
            Apply(views[0], "Set", Encode($"key {i}"), Encode(new[] { i * 300L }));
            Apply(views[1], "Add", Encode($"item {i}"), Encode(Array.Empty<string>()));
            Apply(views[2], "Add", default, Encode(new[] { $"item {i}" }));
            Apply(views[3], "Enqueue", default, Encode(new[] { $"item {i}" }));
            Apply(views[4], "Write", default, Encode(new[] { $"value {i}" }));
            Apply(views[5], "Increment", default, Encode(new[] { 1000L }));
        }

        var fuzzed = new FuzzedDirectory();
        views[6] = fuzzed.NewView();
        return [.. views.Select(static (view, i) => (byte[])[(byte)i, .. Save(view)])];
    }

    /// <summary>A loaded view is saved, and loads to the same state again.</summary>
    public static void Feed(byte[] bytes)
    {
        if (bytes.Length == 0 || bytes[0] >= s_types.Length) throw new TangoFormatException("No such type");
        var type = s_types[bytes[0]];
        var saved = Save(Load(type, bytes.AsMemory(1)));
        if (!Save(Load(type, saved)).AsSpan().SequenceEqual(saved))
            throw new InvalidOperationException($"A state of {type.Name} loads to another one");
    }

    public static TangoObject Load(TangoObjectType type, ReadOnlyMemory<byte> state)
    {
        var view = type.Create();
        ((ITangoView)view).LoadState(state);
        return view;
    }

    public static byte[] Save(TangoObject view)
    {
        var output = new ArrayBufferWriter<byte>();
        ((ITangoView)view).SaveState(output);
        return output.WrittenSpan.ToArray();
    }

    public static void Apply(TangoObject view, string mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments)
    {
        var type = s_types.Single(type => type.Create().GetType() == view.GetType());
        var number = type.Mutators.Single(info => info.Name == mutator).Number;
        ((ITangoView)view).Apply(number, key, arguments, default);
    }

    public static byte[] Encode<T>(T value) => TangoFormatters.ToBytes(value).ToArray();

    private static TangoObjectType TypeOf<T>() where T : TangoObject, ITangoObject<T>
    {
        T.ObjectType.VerifyFormatters();
        return T.ObjectType;
    }
}
