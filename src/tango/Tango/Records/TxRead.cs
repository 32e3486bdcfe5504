namespace Tango.Records;

/// <summary>The part of one object that a transaction has read.</summary>
/// <param name="Keys">Null: the whole object.</param>
internal readonly record struct TxRead(ObjectId Object, IReadOnlyList<ObjectKey>? Keys);
