namespace Tango.Generators;

/// <summary>All that the emitter needs to know about a [MessagePackObject] type.</summary>
/// <param name="Type">Fully qualified, with its type arguments.</param>
/// <param name="IsPublic">Then other projects name its formatter, if it is generic.</param>
/// <param name="Slots">The members in the order of their numbers; with no name where a number has no member.</param>
/// <param name="IsOpen">A class that is not sealed: an instance of a derived class would lose what it adds, and is
/// refused.</param>
/// <param name="HasValueEquality">Equal values have equal members, so that the bytes may stand for the value
/// (R18).</param>
/// <param name="IsImmutable">Readers may share its values: see TANGO009.</param>
/// <param name="Closed">Statements: see <see cref="ClosedTypes"/>.</param>
internal sealed record ValueModel(
    string FormatterName,
    string Type,
    bool IsPublic,
    string TypeParameters,
    string Constraints,
    bool IsReference,
    bool IsOpen,
    bool HasValueEquality,
    bool IsImmutable,
    EquatableArray<SlotModel> Slots,
    EquatableArray<int> ConstructorSlots,
    EquatableArray<string> Closed,
    string HintName)
{
    public string Nullable => IsReference ? Type + "?" : Type;
}

/// <param name="Name">Null for a number without a member, which is written as nil and skipped.</param>
/// <param name="PlainType">Without the annotations of nullable references, which typeof does not take.</param>
/// <param name="Default">Value of the member in a record that was written before the member existed.</param>
internal sealed record SlotModel(
    string? Name, string Type, string PlainType, string Default, bool SetByInitializer);
