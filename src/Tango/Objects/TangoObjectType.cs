namespace Tango;

/// <summary>Static facts about an object type: how to name, create and check it.</summary>
public sealed class TangoObjectType
{
    private readonly Action _verifyFormatters;
    private readonly Lazy<bool> _holdsMutableValues;

    /// <param name="name">The name recorded in the directory; for a generic type see
    /// <see cref="TangoTypeName.Generic"/>.</param>
    /// <param name="create">Makes an instance with the initial view state; must be the parameterless
    /// constructor.</param>
    /// <param name="verifyFormatters">Throws if a type used by the object has no formatter; called when the object is
    /// opened.</param>
    public TangoObjectType(string name, Func<TangoObject> create, Action verifyFormatters,
        params IReadOnlyList<MutatorInfo> mutators)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        Name = name;
        Create = create;
        _verifyFormatters = verifyFormatters;
        _holdsMutableValues = new Lazy<bool>(() => MutableTypes.AreArgumentsOf(create().GetType()));
        Mutators = mutators;
    }

    public string Name { get; }

    public IReadOnlyList<MutatorInfo> Mutators { get; }

    internal Func<TangoObject> Create { get; }

    /// <summary>Readers get copies of what can be changed in place.</summary>
    internal bool HoldsMutableValues => _holdsMutableValues.Value;

    /// <summary>Every type has a formatter, and the initial state comes back from its checkpoint.</summary>
    /// <exception cref="TangoFormatException">Otherwise.</exception>
    internal void VerifyFormatters()
    {
        _verifyFormatters();
        var written = SaveState((ITangoView)Create());
        var loaded = (ITangoView)Create();
        loaded.LoadState(written);
        if (!SaveState(loaded).Span.SequenceEqual(written.Span))
            throw new TangoFormatException($"The initial state of {Name} is not what was written when it is read");
    }

    private static ReadOnlyMemory<byte> SaveState(ITangoView view)
    {
        var state = new ArgumentBuffer();
        view.SaveState(state);
        return state.WrittenMemory;
    }
}
