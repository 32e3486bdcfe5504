using Tango.Formatting;

namespace Tango;

/// <summary>Static facts about an object type: how to name, create and check it.</summary>
public sealed class TangoObjectType
{
    private readonly Action<StoredTypes> _verifyFormatters;
    private readonly Lazy<bool> _holdsMutableValues;
    private readonly Lazy<bool> _isIndex;
    private readonly Lazy<bool> _isLeased;
    private volatile RecordedTypeName? _recorded;

    /// <param name="name">The name recorded in the directory; for a generic type see
    /// <see cref="TangoTypeName.Generic"/>.</param>
    /// <param name="create">Makes an instance with the initial view state; must be the parameterless
    /// constructor.</param>
    /// <param name="verifyFormatters">Adds each type that the object stores; called when the object is
    /// opened.</param>
    public TangoObjectType(string name, Func<TangoObject> create, Action<StoredTypes> verifyFormatters,
        params IReadOnlyList<MutatorInfo> mutators)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        Name = name;
        Create = create;
        _verifyFormatters = verifyFormatters;
        _holdsMutableValues = new Lazy<bool>(() => MutableTypes.AreArgumentsOf(create().GetType()));
        _isIndex = new Lazy<bool>(() => create() is ITangoIndex);
        _isLeased = new Lazy<bool>(() => create() is ITangoLeased);
        Mutators = mutators;
    }

    public string Name { get; }

    public IReadOnlyList<MutatorInfo> Mutators { get; }

    internal Func<TangoObject> Create { get; }

    /// <summary>Readers get copies of what can be changed in place.</summary>
    internal bool HoldsMutableValues => _holdsMutableValues.Value;

    /// <summary>Whether the state may have values in the log.</summary>
    internal bool IsIndex => _isIndex.Value;

    /// <summary>Whether the state may have leases.</summary>
    internal bool IsLeased => _isLeased.Value;

    /// <summary>Every type has a formatter, and the initial state comes back from its checkpoint.</summary>
    /// <exception cref="TangoFormatException">Otherwise.</exception>
    internal void VerifyFormatters() => _ = Recorded;

    /// <summary>Whether <see cref="VerifyFormatters"/> passes. Playback asks, so that what the user's constructor or
    /// LoadState throws is an answer too.</summary>
    internal bool HasFormatters
    {
        get
        {
            try
            {
                VerifyFormatters();
                return true;
            }
            catch (Exception e) when (!TangoPlaybackFailedException.IsReason(e))
            {
                return false;
            }
        }
    }

    /// <summary>Type name that the directory records of objects that are created now.</summary>
    /// <exception cref="TangoFormatException">As <see cref="VerifyFormatters"/>.</exception>
    internal RecordedTypeName Recorded => _recorded ??= Verify();

    /// <summary>Whether objects recorded as this are of the type, and their values were written by the serializers of
    /// this program. One that the type came to use later is not recorded. A type without a formatter for what it stores
    /// has no serializers.</summary>
    internal bool Is(string recorded)
    {
        if (recorded == Name) return true;
        var parsed = RecordedTypeName.Parse(recorded);
        return parsed.Plain == Name && HasFormatters && parsed.Serializers.All(Recorded.Serializers.Contains);
    }

    /// <exception cref="TangoDirectoryException">The entry's object is of another type.</exception>
    internal void RequireIs(DirectoryEntry entry)
    {
        if (Is(entry.TypeName)) return;
        string why = RecordedTypeName.Parse(entry.TypeName).Plain == Name
            ? ": its values were written by another serializer"
            : "";
        throw new TangoDirectoryException($"'{entry.Name}' is of type {entry.TypeName}, not {Recorded}{why}");
    }

    private RecordedTypeName Verify()
    {
        var types = new StoredTypes();
        _verifyFormatters(types);
        var written = SaveState((ITangoView)Create());
        var loaded = (ITangoView)Create();
        loaded.LoadState(written);
        if (!SaveState(loaded).Span.SequenceEqual(written.Span))
            throw new TangoFormatException($"The initial state of {Name} is not what was written when it is read");
        return new RecordedTypeName(Name, types.Serializers);
    }

    private static ReadOnlyMemory<byte> SaveState(ITangoView view)
    {
        var state = new ArgumentBuffer();
        view.SaveState(state);
        return state.WrittenMemory;
    }
}
